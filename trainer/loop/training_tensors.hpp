#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <string>
#include <vector>

#include "loop/communicator.hpp"

namespace hpcboot::train {

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

/// Everything that training changes, as it is now, not copied: `model.<name>` for parameters and
/// buffers, `optimizer.<parameter>.<slot>` for what the optimizer keeps (momentum, moments, number
/// of steps), and `random.cpu`, `random.cuda` for the generators. Rank 0's stand for all: the ranks
/// begin with one seed and draw equally often.
std::vector<NamedTensor> training_tensors(const torch::nn::Module& model,
                                          torch::optim::Optimizer& optimizer);

/// Puts such tensors back, on any device.
/// @param file names the source in errors
/// @throws Error{malformed_file} where one is missing, is not of this model or has another shape;
///         nothing was changed then
void restore_training_tensors(const std::vector<NamedTensor>& tensors, torch::nn::Module& model,
                              torch::optim::Optimizer& optimizer, const std::string& file);

/// Rank 0's tensors for everybody. Collective; what the others pass is replaced.
void share_tensors(std::vector<NamedTensor>& tensors, Communicator& communicator);

}  // namespace hpcboot::train
