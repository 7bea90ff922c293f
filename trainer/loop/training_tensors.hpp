#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/torch/sharded_checkpoint.hpp"
#include "loop/communicator.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::train {

constexpr std::string_view kModelPrefix = "model.";

/// Everything that training changes, in its current state, not copied: `model.<name>` for
/// parameters and buffers, and `optimizer.<parameter>.<slot>` for the optimizer's state (momentum,
/// moments, number of steps). Rank 0's tensors represent all ranks.
std::vector<NamedTensor> training_tensors(const torch::nn::Module& model,
                                          torch::optim::Optimizer& optimizer);

/// The shapes of all tensors that training_tensors() can return, by their names.
using TrainingShapes = std::map<std::string, std::vector<std::int64_t>>;
/// @param model, optimizer whole, not divided among ranks
TrainingShapes training_shapes(const torch::nn::Module& model,
                               const torch::optim::Optimizer& optimizer);

/// Compares the tensors of a file with them, so that none is read that takes more memory than the
/// training itself.
/// @throws Error{malformed_file} if one is not among them or has another shape, or if one of the
/// model's is missing
void require_shapes(const std::vector<record::TensorInfo>& tensors, const TrainingShapes& shapes,
                    const std::string& file);

/// Restores such tensors, on any device.
/// @param file names the source in errors
/// @throws Error{malformed_file} if one is missing, does not belong to this model or has another
///         shape; nothing has been changed then
void restore_training_tensors(const std::vector<NamedTensor>& tensors, torch::nn::Module& model,
                              torch::optim::Optimizer& optimizer, const std::string& file);

/// Broadcasts rank 0's tensors. Collective; the tensors of the other ranks are replaced.
void share_tensors(std::vector<NamedTensor>& tensors, Communicator& communicator);

}  // namespace hpcboot::train
