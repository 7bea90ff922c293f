#include "loop/recorded_pass.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/cuda.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace hpcboot::train {
namespace {

// As many as PyTorch's documentation advises.
constexpr int kWarmUp = 3;

/// Ends a recording after an exception; that it is incomplete is known.
void end_broken(at::cuda::CUDAGraph& graph) {
  try {
    graph.capture_end();
  } catch (const std::exception&) {
  }
}

bool same_layout(const torch::Tensor& a, const torch::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

}  // namespace

struct RecordedPass::Graph {
  at::cuda::CUDAGraph graph;
};

bool has_cuda_graphs() {
  return true;
}

RecordedPass::RecordedPass(std::vector<torch::Tensor> parameters, Pass pass)
    : parameters_(std::move(parameters)), pass_(std::move(pass)) {}

RecordedPass::~RecordedPass() = default;

bool RecordedPass::fits(const models::Inputs& inputs, const torch::Tensor& target) const {
  return std::equal(inputs_.begin(), inputs_.end(), inputs.begin(), inputs.end(), same_layout) &&
         same_layout(target_, target);
}

void RecordedPass::copy(const models::Inputs& inputs, const torch::Tensor& target) {
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs_[i].copy_(inputs[i]);
  target_.copy_(target);
}

void RecordedPass::record(const models::Inputs& inputs, const torch::Tensor& target) {
  const c10::DeviceIndex device = target.device().index();
  torch::cuda::synchronize(device);
  // LibTorch does not record the default stream.
  const c10::cuda::CUDAStreamGuard stream(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device));
  copy(inputs, target);
  auto recorded = std::make_unique<Graph>();
  // The graph has memory of its own. During a recording, LibTorch does not release what the passes
  // before have left behind.
  c10::cuda::CUDACachingAllocator::emptyCache();
  // What other threads ask of CUDA meanwhile does not concern the recording.
  recorded->graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  try {
    loss_ = pass_(inputs_, target_);
  } catch (...) {
    end_broken(recorded->graph);
    throw;
  }
  recorded->graph.capture_end();
  graph_ = std::move(recorded);
  for (const torch::Tensor& parameter : parameters_) gradients_.push_back(parameter.grad());
  torch::cuda::synchronize(device);
}

torch::Tensor RecordedPass::run(const models::Inputs& inputs, const torch::Tensor& target) {
  // A smaller batch is the last one of an epoch, and is not the one to record.
  if (graph_ == nullptr && (!target_.defined() || target.numel() > target_.numel())) {
    inputs_.clear();
    for (const torch::Tensor& input : inputs) inputs_.push_back(input.clone());
    target_ = target.clone();
    batches_ = 0;
  }
  if (!fits(inputs, target) || (graph_ == nullptr && ++batches_ <= kWarmUp)) {
    return pass_(inputs, target);
  }
  if (graph_ == nullptr) {
    record(inputs, target);
  } else {
    copy(inputs, target);
  }
  graph_->graph.replay();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].mutable_grad() = gradients_[i];
  }
  return loss_.clone();
}

}  // namespace hpcboot::train
