#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>

#include "hpcboot/torch/sync_batch_norm.hpp"
#include "models/model.hpp"

namespace hpcboot::models {

struct ResNetShape {
  bool bottleneck;                     ///< blocks of three convolutions; else of two
  std::array<std::int64_t, 4> blocks;  ///< of each layer
};

inline constexpr ResNetShape kResNet18{false, {2, 2, 2, 2}};
inline constexpr ResNetShape kResNet50{true, {3, 4, 6, 3}};

/// A ResNet as in torchvision ("v1.5", with the stride on the 3x3 convolution), with torchvision's
/// initialisation and names of parameters and buffers, so that weights can be exchanged. He, Zhang,
/// Ren, Sun: Deep Residual Learning for Image Recognition, 2015.
class ResNet : public Model {
 public:
  /// Takes images of any size. With options.checkpointed, its blocks run with checkpoint().
  ResNet(const ResNetShape& shape, const ImageModelOptions& options);

  /// @param inputs images, {batch, channels, height, width}; designed for 224 pixels; training
  /// needs at
  ///        least 32
  torch::Tensor forward(Inputs inputs) override;

 private:
  void initialize();

  torch::nn::Conv2d conv1_;
  BatchNorm2d bn1_;
  std::array<torch::nn::Sequential, 4> layers_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace hpcboot::models
