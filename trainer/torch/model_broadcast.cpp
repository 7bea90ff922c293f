#include "model_broadcast.hpp"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <cstddef>

#include "hpcboot/torch/collective_failure.hpp"

namespace hpcboot {
namespace {

// Size of one broadcast, at the start and of buffers, as in torch/nn/parallel/distributed.py.
constexpr std::size_t kBroadcastBytes = 250 * 1024 * 1024;

/// The same memory as Gloo of every version broadcasts it: as bytes. Not if there are gaps in it.
at::Tensor as_sent(const at::Tensor& tensor) {
  const at::Tensor detached = tensor.detach();
  if (!detached.is_non_overlapping_and_dense()) return detached;
  return detached.as_strided({detached.numel()}, {1}).view(at::kByte);
}

}  // namespace

void broadcast_from(int root, const std::vector<at::Tensor>& tensors, const ProcessGroup& group,
                    const char* what) {
  std::vector<at::Tensor> sent;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.numel() > 0) sent.push_back(as_sent(tensor));  // c10d fails at others
  }
  if (sent.empty()) return;
  with_peers(what,
             [&] { c10d::broadcast_coalesced(group.c10d_group(), sent, kBroadcastBytes, root); });
}

}  // namespace hpcboot
