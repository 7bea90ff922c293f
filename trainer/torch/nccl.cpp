#include "nccl.hpp"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <string>
#include <string_view>

#include "core/bounded_call.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

constexpr std::chrono::seconds kAbort{10};

/// NCCL's own message, which c10d appends to the source location, or else the first line.
std::string reason_of(std::string_view text) {
  constexpr std::string_view kOwnWords = "Last error:\n";
  const auto own = text.find(kOwnWords);
  if (own != std::string_view::npos) text.remove_prefix(own + kOwnWords.size());
  return first_line(text);
}

std::string rank_and_device(const c10d::ProcessGroup& group, at::Device device) {
  return "rank " + std::to_string(group.getRank()) + " on " + device.str();
}

/// Otherwise its destructor prints a warning over the error. Never throws.
void abort(const c10::intrusive_ptr<c10d::ProcessGroupNCCL>& nccl) {
  try {
    bounded_call([nccl] { nccl->abort(); }, kAbort);
  } catch (const std::exception&) {
  }
}

/// NCCL connects every pair of ranks that exchange data, and waits for them without a limit.
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
    abort(nccl);
    throw Error(ErrorCode::exchange_failed,
                "NCCL cannot connect " + rank_and_device(group, device) + " (" +
                    reason_of(cause.what()) + ")",
                "a separate CUDA device for each rank, and a network between their hosts",
                "set NCCL_DEBUG=INFO for details, HPCBOOT_INTERFACE to choose the network, or use "
                "backend gloo, which does not need NCCL");
  }
  if (connected) return;
  throw Error(
      ErrorCode::deadline_exceeded,
      "NCCL did not connect " + rank_and_device(group, device) + " to all other ranks within " +
          std::to_string(deadline.count()) + " ms",
      "ranks whose GPUs can reach each other",
      "set NCCL_DEBUG=INFO to see which path it waits for; check for a firewall between the hosts; "
      "choose another network with HPCBOOT_INTERFACE, or use backend gloo");
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
  // Gloo has used the store already; the prefix keeps NCCL's keys apart.
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
