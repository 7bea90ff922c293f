#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "models/model.hpp"

namespace hpcboot::train {

/// Whether this build can record CUDA graphs: LibTorch is 2.x and built for CUDA.
bool has_cuda_graphs();

/// The forward and backward passes over a batch, recorded as a CUDA graph, which starts all their
/// kernels at once. Small models spend most of a step in starting kernels one by one.
/// https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
class RecordedPass {
 public:
  /// Computes the loss of a batch, and sets the gradients, which are undefined before. While it is
  /// recorded, it must not wait for the GPU.
  using Pass =
      std::function<torch::Tensor(const models::Inputs& inputs, const torch::Tensor& target)>;

  /// @param parameters whose gradients `pass` sets
  RecordedPass(std::vector<torch::Tensor> parameters, Pass pass);
  ~RecordedPass();

  /// Runs the pass: the first batches, which LibTorch needs to choose its kernels, and those of
  /// another shape than the recorded one, without the graph.
  /// @return the loss
  torch::Tensor run(const models::Inputs& inputs, const torch::Tensor& target);

 private:
  struct Graph;
  bool fits(const models::Inputs& inputs, const torch::Tensor& target) const;
  void copy(const models::Inputs& inputs, const torch::Tensor& target);
  void record(const models::Inputs& inputs, const torch::Tensor& target);

  std::vector<torch::Tensor> parameters_;
  Pass pass_;
  int batches_ = 0;        ///< of the shape to record, before the recording
  models::Inputs inputs_;  ///< that the graph reads, as the target; the loss it writes
  torch::Tensor target_, loss_;
  std::vector<torch::Tensor> gradients_;  ///< likewise, one for each parameter
  std::unique_ptr<Graph> graph_;
};

}  // namespace hpcboot::train
