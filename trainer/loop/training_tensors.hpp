#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/torch/sharded_checkpoint.hpp"
#include "loop/communicator.hpp"

namespace hpcboot::train {

constexpr std::string_view kModelPrefix = "model.";

/// Everything that training changes, in its current state, not copied: `model.<name>` for
/// parameters and buffers, `optimizer.<parameter>.<slot>` for the optimizer's state (momentum,
/// moments, number of steps), and `random.cpu`, `random.cuda` for the generators. Rank 0's tensors
/// represent all ranks, which start with the same seed and draw equally often.
std::vector<NamedTensor> training_tensors(const torch::nn::Module& model,
                                          torch::optim::Optimizer& optimizer);

/// Restores such tensors, on any device.
/// @param file names the source in errors
/// @throws Error{malformed_file} if one is missing, does not belong to this model or has another
///         shape; nothing has been changed then
void restore_training_tensors(const std::vector<NamedTensor>& tensors, torch::nn::Module& model,
                              torch::optim::Optimizer& optimizer, const std::string& file);

/// Those of training_tensors() that are of the random generators.
std::vector<NamedTensor> random_states(const torch::nn::Module& model);

/// Restores the generators whose states are among these tensors.
void restore_random_states(const std::vector<NamedTensor>& tensors, const torch::nn::Module& model);

/// Broadcasts rank 0's tensors. Collective; the tensors of the other ranks are replaced.
void share_tensors(std::vector<NamedTensor>& tensors, Communicator& communicator);

}  // namespace hpcboot::train
