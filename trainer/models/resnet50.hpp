#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "hpcboot/torch/sync_batch_norm.hpp"
#include "models/model.hpp"

namespace hpcboot::models {

/// ResNet-50 as in torchvision ("v1.5", with the stride on the 3x3 convolution), with torchvision's
/// initialisation and names of parameters and buffers, so that weights can be exchanged. He, Zhang,
/// Ren, Sun: Deep Residual Learning for Image Recognition, 2015.
class ResNet50 : public Model {
 public:
  /// @param checkpointed its blocks run with checkpoint()
  ResNet50(std::int64_t in_channels, std::int64_t classes, bool checkpointed);

  /// @param inputs images, {batch, in_channels, height, width}; designed for 224 pixels; training
  /// needs at
  ///        least 32
  torch::Tensor forward(Inputs inputs) override;

 private:
  torch::nn::Sequential make_layer(std::int64_t in_channels, std::int64_t width,
                                   std::int64_t blocks, std::int64_t stride, bool checkpointed);
  void initialize();

  torch::nn::Conv2d conv1_;
  BatchNorm2d bn1_;
  torch::nn::Sequential layer1_;
  torch::nn::Sequential layer2_;
  torch::nn::Sequential layer3_;
  torch::nn::Sequential layer4_;
  torch::nn::Linear fc_;
};

}  // namespace hpcboot::models
