#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "hpcboot/torch/distributed_data_parallel.hpp"

// The models of record.py.
namespace hpcboot::pytorch {

struct Net : torch::nn::Module {
  explicit Net(std::int64_t inputs = 4, std::int64_t outputs = 2)
      : first(register_module("first", torch::nn::Linear(inputs, 5))),
        second(register_module("second", torch::nn::Linear(5, outputs))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return second->forward(first->forward(x).tanh());
  }
  torch::nn::Linear first;
  torch::nn::Linear second;
};

/// Three heads on one trunk; each forward names those that it uses.
struct Heads : torch::nn::Module {
  Heads() {
    for (int head = 0; head < 3; ++head) {
      heads.push_back(register_module("head" + std::to_string(head), torch::nn::Linear(3, 2)));
    }
  }
  torch::Tensor forward(const torch::Tensor& x, const std::vector<int>& used) {
    const torch::Tensor hidden = trunk->forward(x).tanh();
    torch::Tensor sum = torch::zeros({});
    for (const int head : used) sum = sum + heads[static_cast<std::size_t>(head)]->forward(hidden);
    return sum;
  }
  torch::nn::Linear trunk = register_module("trunk", torch::nn::Linear(4, 3));
  std::vector<torch::nn::Linear> heads;
};

struct Normed : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return norm->forward(layer->forward(x)); }
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(4, 3));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(3));
};

/// Two layers with one weight.
struct Tied : torch::nn::Module {
  Tied() { second->weight = second->register_parameter("weight", first->weight); }
  torch::Tensor forward(const torch::Tensor& x) {
    return second->forward(first->forward(x).tanh());
  }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(4, 4));

  /// A layer that gets its weight.
  struct Second : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return torch::linear(x, weight); }
    torch::Tensor weight;
  };
  std::shared_ptr<Second> second = register_module("second", std::make_shared<Second>());
};

/// Recomputes the last layer during the backward pass, so that its gradients are the first ones.
struct Segments : torch::nn::Module {
  explicit Segments(int times_used) : times(times_used) {}
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = first->forward(x).tanh();
    for (int i = 0; i < times; ++i) y = checkpointed(*second, y);
    return y;
  }
  /// torch.utils.checkpoint with use_reentrant, which LibTorch does not have.
  static torch::Tensor checkpointed(torch::nn::LinearImpl& layer, const torch::Tensor& x);

  const int times;
  torch::nn::Linear first = register_module("first", torch::nn::Linear(4, 5));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(5, 5));
};

inline DistributedDataParallelOptions static_graph() {
  DistributedDataParallelOptions options;
  options.static_graph = true;
  return options;
}

}  // namespace hpcboot::pytorch
