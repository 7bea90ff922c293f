#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "models/model.hpp"

namespace hpcboot::models {

/// A small convolutional network for digits: two convolutions, two linear layers. It has neither
/// dropout nor batch normalisation, so its output for an image does not depend on the rest of the
/// batch, and training on several ranks can equal training on one.
class MnistNet : public Model {
 public:
  MnistNet(std::int64_t in_channels, std::int64_t classes);

  /// @param inputs images, {batch, in_channels, height, width}; height and width at least 2
  torch::Tensor forward(Inputs inputs) override;

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::Conv2d conv2_;
  torch::nn::Linear fc1_;
  torch::nn::Linear fc2_;
};

}  // namespace hpcboot::models
