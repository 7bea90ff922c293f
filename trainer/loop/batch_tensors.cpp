#include "loop/batch_tensors.hpp"

#include <utility>
#include <vector>

#include "torch/tensor_types.hpp"

namespace hpcboot::train {
namespace {

/// The memory may be reused after this call. A GPU copies from pinned memory while the host
/// continues; LibTorch keeps that pinned memory until the copy is done.
torch::Tensor sent(const torch::Tensor& memory, torch::Device device) {
  if (device.is_cuda()) return memory.pin_memory().to(device, /*non_blocking=*/true);
  return memory.to(device);
}

}  // namespace

tasks::Example example_of(data::Batch& batch, const tasks::Task& task, torch::Device device,
                          torch::ScalarType type) {
  std::vector<torch::Tensor> parts;
  for (data::BatchPart& part : batch.parts) {
    parts.push_back(
        sent(torch::from_blob(part.bytes.data(), part.shape, type_of(part.type)), device));
  }
  tasks::Example example = task.prepare(std::move(parts));
  if (example.target.is_floating_point()) example.target = example.target.to(type);
  return example;
}

}  // namespace hpcboot::train
