// Rows of trainer/ddp.md on models that are out of the ordinary. record.py has the same scenarios.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "torch/pytorch/models.hpp"
#include "torch/pytorch/recorded.hpp"

namespace hpcboot::pytorch {
namespace {

DistributedDataParallelOptions find_unused() {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  return options;
}

template <typename Module>
Figures train_plainly(DistributedDataParallel<Module>&& ddp) {
  return train(*ddp.module(), [&](int step) { return ddp.forward(batch(step)).square().mean(); });
}

RECORDED_TEST(StaticGraphSeveralForwards) {
  auto ddp = wrap(std::make_shared<Net>(), static_graph());
  expect_recorded("static_graph_several_forwards", train(*ddp.module(), [&](int step) {
                    return ddp.forward(batch(step)).square().mean() +
                           ddp.forward(batch(step, 1)).abs().mean();
                  }));
}

RECORDED_TEST(StaticGraphDifferentAcrossRanks) {
  auto ddp = wrap(std::make_shared<Heads>(), static_graph());
  const std::vector<int> used{world->rank() % 2};
  expect_recorded("static_graph_different_across_ranks", train(*ddp.module(), [&](int step) {
                    return ddp.forward(batch(step), used).square().mean();
                  }));
}

/// Two layers that forward does not use, with one bias.
struct SharedUnused : torch::nn::Module {
  SharedUnused() {
    second_weight = second->register_parameter("weight", torch::zeros({2, 4}));
    second->register_parameter("bias", first->bias);
  }
  torch::Tensor forward(const torch::Tensor& x) { return used->forward(x); }
  struct Second : torch::nn::Module {};
  torch::nn::Linear first = register_module("first", torch::nn::Linear(4, 2));
  std::shared_ptr<Second> second = register_module("second", std::make_shared<Second>());
  torch::Tensor second_weight;
  torch::nn::Linear used = register_module("used", torch::nn::Linear(4, 2));
};

RECORDED_TEST(SharedUnusedParameters) {
  expect_recorded("shared_unused_parameters",
                  train_plainly(wrap(std::make_shared<SharedUnused>(), find_unused())));
  expect_recorded("shared_unused_parameters_static_graph",
                  train_plainly(wrap(std::make_shared<SharedUnused>(), static_graph())));
}

RECORDED_TEST(OutputWithoutGradient) {
  struct Detached : Net {
    std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
      const torch::Tensor y = Net::forward(x);
      return {y, y.detach()};
    }
  };
  auto ddp = wrap(std::make_shared<Detached>(), find_unused());
  expect_recorded("output_without_gradient", train(*ddp.module(), [&](int step) {
                    const auto [y, weights] = ddp.forward(batch(step));
                    return (y * weights).mean();
                  }));
}

struct Undefined : torch::autograd::Function<Undefined> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    return {torch::Tensor()};
  }
};

RECORDED_TEST(UndefinedGradients) {
  struct Cut : Net {
    torch::Tensor forward(const torch::Tensor& x) {
      return second->forward(Undefined::apply(first->forward(x)));
    }
  };
  expect_recorded("undefined_gradients", train_plainly(wrap(std::make_shared<Cut>())));
}

RECORDED_TEST(EmptyParameter) {
  struct WithEmpty : Net {
    torch::nn::Linear none = register_module("none", torch::nn::Linear(5, 0));
  };
  expect_recorded("empty_parameter",
                  train_plainly(wrap(std::make_shared<WithEmpty>(), find_unused())));
}

}  // namespace
}  // namespace hpcboot::pytorch
