#include "models/resnet.hpp"

#include <torch/nn/functional/pooling.h>
#include <torch/nn/init.h>

#include <string>

#include "hpcboot/torch/activation_checkpoint.hpp"
#include "hpcboot/torch/fully_shard.hpp"

namespace hpcboot::models {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kStemChannels = 64;

// Without bias: every convolution is followed by a batch normalisation, which has one.
nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                       std::int64_t stride = 1) {
  return nn::Conv2d(
      nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// What a block does to its input before it adds the result; empty if the shape stays.
nn::Sequential projection(std::int64_t from, std::int64_t to, std::int64_t stride) {
  if (stride == 1 && from == to) return nullptr;
  return nn::Sequential(convolution(from, to, 1, stride), BatchNorm2d(to));
}

/// Two 3x3 convolutions, the first with the stride; added to the block's input.
class BasicBlockImpl : public nn::Module {
 public:
  static constexpr std::int64_t kExpansion = 1;  // output channels over the width

  BasicBlockImpl(std::int64_t in_channels, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", convolution(in_channels, width, 3, stride))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", convolution(width, width, 3))),
        bn2_(register_module("bn2", BatchNorm2d(width))),
        downsample_(projection(in_channels, width, stride)) {
    if (downsample_) register_module("downsample", downsample_);
  }

  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor residual = bn1_->forward(conv1_->forward(x)).relu_();
    residual = bn2_->forward(conv2_->forward(residual));
    residual += downsample_ ? downsample_->forward(x) : x;
    return residual.relu_();
  }

 private:
  nn::Conv2d conv1_;
  BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  BatchNorm2d bn2_;
  nn::Sequential downsample_;
};
TORCH_MODULE(BasicBlock);

/// 1x1 convolution down to `width`, 3x3 with the stride, 1x1 up to 4 x width; added to the block's
/// input.
class BottleneckImpl : public nn::Module {
 public:
  static constexpr std::int64_t kExpansion = 4;

  BottleneckImpl(std::int64_t in_channels, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", convolution(in_channels, width, 1))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", convolution(width, width, 3, stride))),
        bn2_(register_module("bn2", BatchNorm2d(width))),
        conv3_(register_module("conv3", convolution(width, width * kExpansion, 1))),
        bn3_(register_module("bn3", BatchNorm2d(width * kExpansion))),
        downsample_(projection(in_channels, width * kExpansion, stride)) {
    if (downsample_) register_module("downsample", downsample_);
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
  nn::Sequential downsample_;
};
TORCH_MODULE(Bottleneck);

/// @param channels of the layer's input; afterwards, of its result
/// @param stride of its first block
template <typename Block>
nn::Sequential make_layer(std::int64_t& channels, std::int64_t width, std::int64_t blocks,
                          std::int64_t stride, bool checkpointed) {
  nn::Sequential layer;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const Block block(channels, width, i == 0 ? stride : 1);
    if (checkpointed) {
      layer->push_back(shard_unit(hpcboot::checkpointed(block)));
    } else {
      layer->push_back(shard_unit(block));
    }
    channels = width * Block::ContainedType::kExpansion;
  }
  return layer;
}

}  // namespace

ResNet::ResNet(const ResNetShape& shape, const ImageModelOptions& options)
    : conv1_(register_module("conv1", convolution(options.channels, kStemChannels, 7, 2))),
      bn1_(register_module("bn1", BatchNorm2d(kStemChannels))) {
  const auto make = shape.bottleneck ? &make_layer<Bottleneck> : &make_layer<BasicBlock>;
  std::int64_t channels = kStemChannels;
  for (std::size_t i = 0; i < shape.blocks.size(); ++i) {
    layers_[i] = register_module(
        "layer" + std::to_string(i + 1),
        make(channels, kStemChannels << i, shape.blocks[i], i == 0 ? 1 : 2, options.checkpointed));
  }
  fc_ = register_module("fc", nn::Linear(channels, options.classes));
  initialize();
}

void ResNet::initialize() {
  // Batch normalisations start with 1 and 0, and the linear layer as in PyTorch, by default.
  for (const auto& module : modules(/*include_self=*/false)) {
    if (const auto* conv = module->as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, /*a=*/0, torch::kFanOut, torch::kReLU);
    }
  }
}

torch::Tensor ResNet::forward(Inputs inputs) {
  torch::Tensor x = bn1_->forward(conv1_->forward(inputs.front())).relu_();
  x = torch::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  for (nn::Sequential& layer : layers_) x = layer->forward(x);
  return fc_->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

}  // namespace hpcboot::models
