#include "nccl.hpp"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <string>
#include <string_view>

#include "core/bounded_call.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {
namespace {

/// NCCL's own words, which c10d appends to where in its source they came, or the first line.
std::string reason_of(std::string_view text) {
  constexpr std::string_view kOwnWords = "Last error:\n";
  const auto own = text.find(kOwnWords);
  if (own != std::string_view::npos) text.remove_prefix(own + kOwnWords.size());
  return std::string(text.substr(0, text.find('\n')));
}

std::string rank_and_device(const c10d::ProcessGroup& group, at::Device device) {
  return "rank " + std::to_string(group.getRank()) + " on " + device.str();
}

/// NCCL connects every pair of ranks that exchange something, and waits for them without a limit.
void connect(const c10d::ProcessGroup& group,
             const c10::intrusive_ptr<c10d::ProcessGroupNCCL>& nccl, at::Device device,
             std::chrono::milliseconds deadline) {
  bool connected = false;
  try {
    connected = bounded_call(
        [nccl, device] {
          c10::cuda::set_device(device.index());
          nccl->eagerConnectSingleDevice(device);
        },
        deadline);
  } catch (const std::exception& cause) {
    throw Error(ErrorCode::exchange_failed,
                "NCCL cannot connect " + rank_and_device(group, device) + " (" +
                    reason_of(cause.what()) + ")",
                "a CUDA device for each rank alone, and a network between their hosts",
                "NCCL_DEBUG=INFO tells more; HPCBOOT_INTERFACE chooses the network; backend gloo "
                "does without NCCL");
  }
  if (connected) return;
  throw Error(
      ErrorCode::deadline_exceeded,
      "NCCL has not connected " + rank_and_device(group, device) + " with all other ranks within " +
          std::to_string(deadline.count()) + " ms",
      "ranks whose GPUs reach each other",
      "NCCL_DEBUG=INFO tells on which path it waits; look for a firewall between the hosts; "
      "HPCBOOT_INTERFACE chooses another network, and backend gloo does without NCCL");
}

}  // namespace

bool has_nccl() {
  return true;
}

void add_nccl(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store, int device,
              std::chrono::milliseconds start_up_deadline,
              std::chrono::milliseconds collective_timeout) {
  const at::Device own(at::kCUDA, static_cast<at::DeviceIndex>(device));
  c10::cuda::set_device(own.index());
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = collective_timeout;
  // Gloo has used the store already, and NCCL's keys are its own.
  auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl", store), group.getRank(), group.getSize(),
      options);
  connect(group, nccl, own, start_up_deadline);
  group.setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
}

void end_nccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  bounded_call([group] { group->shutdown(); }, std::chrono::minutes(1));
}

}  // namespace hpcboot
