#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "models/model_names.hpp"

namespace hpcboot::models {

/// An image classifier.
struct Model : torch::nn::Module {
  /// @param images {batch, in_channels, height, width}, floating point
  /// @return {batch, classes}, scores before softmax
  virtual torch::Tensor forward(torch::Tensor images) = 0;
};

/// A model with new weights, drawn from LibTorch's default generator: torch::manual_seed() before
/// this call makes them the same on all ranks.
/// @param checkpointed its layers run with checkpoint(): they keep their inputs only, and the
///        backward pass computes the rest again
/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones; and if a
///         model without layers is to be checkpointed
std::shared_ptr<Model> make_model(std::string_view name, std::int64_t in_channels = 1,
                                  std::int64_t classes = 10, bool checkpointed = false);

}  // namespace hpcboot::models
