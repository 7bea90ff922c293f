#include "models/mnistnet.hpp"

#include <torch/nn/functional/pooling.h>

namespace hpcboot::models {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kChannels1 = 32;
constexpr std::int64_t kChannels2 = 64;
constexpr std::int64_t kHidden = 128;
// 28 pixels after two halvings; images of any other size are pooled to this size.
constexpr std::int64_t kPooledSize = 7;

nn::Conv2dOptions convolution_3x3(std::int64_t from, std::int64_t to) {
  return nn::Conv2dOptions(from, to, 3).padding(1);
}

torch::Tensor pooled(const torch::Tensor& x) {
  const std::int64_t rows = x.size(2);
  const std::int64_t cols = x.size(3);
  if (rows % kPooledSize != 0 || cols % kPooledSize != 0) {
    return torch::adaptive_avg_pool2d(x, {kPooledSize, kPooledSize});
  }
  // All windows have the same size here, and avg_pool2d's backward pass is several times faster.
  return torch::avg_pool2d(x, {rows / kPooledSize, cols / kPooledSize});
}

}  // namespace

MnistNet::MnistNet(std::int64_t in_channels, std::int64_t classes)
    : conv1_(register_module("conv1", nn::Conv2d(convolution_3x3(in_channels, kChannels1)))),
      conv2_(register_module("conv2", nn::Conv2d(convolution_3x3(kChannels1, kChannels2)))),
      fc1_(register_module("fc1", nn::Linear(kChannels2 * kPooledSize * kPooledSize, kHidden))),
      fc2_(register_module("fc2", nn::Linear(kHidden, classes))) {}

torch::Tensor MnistNet::forward(Inputs inputs) {
  // Pooling before relu gives the same result as relu before pooling, on a quarter of the values.
  torch::Tensor x = torch::max_pool2d(conv1_->forward(inputs.front()), 2).relu_();
  x = pooled(conv2_->forward(x).relu_());
  x = fc1_->forward(x.flatten(1)).relu_();
  return fc2_->forward(x);
}

}  // namespace hpcboot::models
