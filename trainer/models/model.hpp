#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "models/model_names.hpp"

namespace hpcboot::models {

/// What a model takes: tensors, of which the first dimension is the samples.
struct Inputs : std::vector<torch::Tensor> {
  using vector::vector;
  Inputs(torch::Tensor only) { push_back(std::move(only)); }  // NOLINT: a tensor is an input
};

/// A model that a task can train.
struct Model : torch::nn::Module {
  /// @param inputs floating point, unless the model says otherwise; image classifiers take
  ///        {batch, in_channels, height, width}
  /// @return one result for each sample; image classifiers return {batch, classes}, scores before
  ///         softmax
  virtual torch::Tensor forward(Inputs inputs) = 0;
};

struct ImageModelOptions {
  std::int64_t channels = 1;  ///< of the images
  std::int64_t classes = 10;
  std::int64_t image_size = 32;  ///< pixels, width and height; some models take any size
  /// Its layers run with checkpoint(): they keep their inputs only, and the backward pass computes
  /// the rest again.
  bool checkpointed = false;
};

/// An image classifier with new weights, drawn from LibTorch's default generator:
/// torch::manual_seed() before this call makes them the same on all ranks.
/// @throws Error{invalid_model_use} for an unknown name; the message lists the known ones; for an
///         image size that the model cannot take; and if a model without layers is to be
///         checkpointed
std::shared_ptr<Model> make_model(std::string_view name, const ImageModelOptions& options = {});

}  // namespace hpcboot::models
