#include "models/resnet50.hpp"

#include <torch/nn/functional/pooling.h>
#include <torch/nn/init.h>

#include "hpcboot/torch/activation_checkpoint.hpp"
#include "hpcboot/torch/fully_shard.hpp"

namespace hpcboot::models {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kExpansion = 4;  // output channels of a block over its width
constexpr std::int64_t kStemChannels = 64;

// Without bias: every convolution is followed by a batch normalisation, which has one.
nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                       std::int64_t stride = 1) {
  return nn::Conv2d(
      nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// 1x1 convolution down to `width`, 3x3 with the stride, 1x1 up to 4 x width; added to its input,
/// which is projected if the shape changes.
class BottleneckImpl : public nn::Module {
 public:
  BottleneckImpl(std::int64_t in_channels, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", convolution(in_channels, width, 1))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", convolution(width, width, 3, stride))),
        bn2_(register_module("bn2", BatchNorm2d(width))),
        conv3_(register_module("conv3", convolution(width, width * kExpansion, 1))),
        bn3_(register_module("bn3", BatchNorm2d(width * kExpansion))) {
    if (stride != 1 || in_channels != width * kExpansion) {
      downsample_ = register_module(
          "downsample", nn::Sequential(convolution(in_channels, width * kExpansion, 1, stride),
                                       BatchNorm2d(width * kExpansion)));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor residual = bn1_->forward(conv1_->forward(x)).relu_();
    residual = bn2_->forward(conv2_->forward(residual)).relu_();
    residual = bn3_->forward(conv3_->forward(residual));
    residual += downsample_ ? downsample_->forward(x) : x;
    return residual.relu_();
  }

 private:
  nn::Conv2d conv1_;
  BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  BatchNorm2d bn2_;
  nn::Conv2d conv3_;
  BatchNorm2d bn3_;
  nn::Sequential downsample_{nullptr};
};
TORCH_MODULE(Bottleneck);

}  // namespace

ResNet50::ResNet50(std::int64_t in_channels, std::int64_t classes, bool checkpointed)
    : conv1_(register_module("conv1", convolution(in_channels, kStemChannels, 7, 2))),
      bn1_(register_module("bn1", BatchNorm2d(kStemChannels))),
      layer1_(register_module("layer1", make_layer(kStemChannels, 64, 3, 1, checkpointed))),
      layer2_(register_module("layer2", make_layer(64 * kExpansion, 128, 4, 2, checkpointed))),
      layer3_(register_module("layer3", make_layer(128 * kExpansion, 256, 6, 2, checkpointed))),
      layer4_(register_module("layer4", make_layer(256 * kExpansion, 512, 3, 2, checkpointed))),
      fc_(register_module("fc", nn::Linear(512 * kExpansion, classes))) {
  initialize();
}

nn::Sequential ResNet50::make_layer(std::int64_t in_channels, std::int64_t width,
                                    std::int64_t blocks, std::int64_t stride, bool checkpointed) {
  nn::Sequential layer;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto block =
        i == 0 ? Bottleneck(in_channels, width, stride) : Bottleneck(width * kExpansion, width, 1);
    if (checkpointed) {
      layer->push_back(shard_unit(hpcboot::checkpointed(block)));
    } else {
      layer->push_back(shard_unit(block));
    }
  }
  return layer;
}

void ResNet50::initialize() {
  // Batch normalisations start with 1 and 0, and the linear layer as in PyTorch, by default.
  for (const auto& module : modules(/*include_self=*/false)) {
    if (const auto* conv = module->as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, /*a=*/0, torch::kFanOut, torch::kReLU);
    }
  }
}

torch::Tensor ResNet50::forward(Inputs inputs) {
  torch::Tensor x = bn1_->forward(conv1_->forward(inputs.front())).relu_();
  x = torch::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  x = layer4_->forward(layer3_->forward(layer2_->forward(layer1_->forward(x))));
  return fc_->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

}  // namespace hpcboot::models
