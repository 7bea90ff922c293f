#include <torch/cuda.h>

#include <csignal>
#include <utility>

#include "core/time_left.hpp"
#include "gloo_device.hpp"
#include "hpcboot/error.hpp"
#include "process_group_impl.hpp"

namespace hpcboot {
namespace {

/// Gloo also writes to ranks that have left: without this, the signal would end the process before
/// it can report the lost rank. Python does the same; the program's own handler is kept.
void survive_broken_pipes() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

int cuda_device(const Resolution& resolution) {
  return resolution.device.value_or(0);
}

void require_backend(const std::string& backend, const Resolution& resolution) {
  if (backend == "gloo") return;
  if (backend != "nccl") {
    throw Error(ErrorCode::backend_unavailable, "backend '" + backend + "'", "gloo or nccl",
                "choose one of these");
  }
  if (!has_nccl()) {
    throw Error(ErrorCode::backend_unavailable, "backend 'nccl', which this build lacks",
                "a LibTorch built for CUDA, 2.7 or newer",
                "use gloo, or build with such a LibTorch: setup/get-libtorch downloads one");
  }
  const auto visible = static_cast<int>(torch::cuda::device_count());
  if (cuda_device(resolution) < visible) return;
  throw Error(ErrorCode::backend_unavailable,
              "no CUDA device: rank " + std::to_string(resolution.placement.rank) +
                  " needs device " + std::to_string(cuda_device(resolution)) + ", but " +
                  std::to_string(visible) + " are visible",
              "a driver, and a visible device for each rank that NCCL connects",
              "use gloo, or check nvidia-smi and CUDA_VISIBLE_DEVICES on this host");
}

}  // namespace

ProcessGroup make_process_group(const Resolution& resolution, const Env& env,
                                const ProcessGroupOptions& wanted) {
  ProcessGroupOptions options = wanted;
  // They are added to others and to the time; Gloo and NCCL do so without a check, and take 0 for
  // no limit.
  constexpr std::chrono::milliseconds kShortest{1};
  options.start_up_deadline = cut_deadline(wanted.start_up_deadline);
  options.collective_timeout = cut_deadline(wanted.collective_timeout, kShortest);
  require_backend(options.backend, resolution);
  validate(resolution.placement, resolution.launcher);
  survive_broken_pipes();
  auto impl = std::make_shared<ProcessGroupAccess::Impl>();
  impl->contain_all(resolution.placement.rank, resolution.placement.world_size);
  impl->start_up_deadline = options.start_up_deadline;
  impl->collective_timeout = options.collective_timeout;
  impl->meeting = meet(resolution, env, options);
  impl->description = impl->meeting->rendezvous.description;
  impl->warning = impl->meeting->rendezvous.warning;
  impl->store = impl->meeting->rendezvous.store;
  const bool is_alone = impl->world_size == 1;
  impl->device = make_gloo_device(is_alone ? std::nullopt : resolution.interface,
                                  is_on_one_host(resolution.placement));
  if (options.backend == "nccl") impl->nccl_device = cuda_device(resolution);
  impl->connect();
  return ProcessGroupAccess::make(std::move(impl));
}

}  // namespace hpcboot
