#include "loop/optimizer.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "loop/train_options.hpp"

namespace hpcboot::train {
namespace {

struct Case {
  const char* optimizer;
  std::optional<double> weight_decay;
  double after_one_step;
  double after_two;
};

/// One weight of 2 with a gradient of 0.5 in each step, at a rate of 0.1.
double weight_after(const Case& c, int steps) {
  torch::Tensor weight = torch::full({1}, 2.0, torch::kFloat64).set_requires_grad(true);
  OptimizationOptions options;
  options.optimizer = c.optimizer;
  options.weight_decay = c.weight_decay;
  options.lr = 1;  // replaced below
  const auto optimizer = make_optimizer({weight}, options);
  for (int step = 0; step < steps; ++step) {
    set_learning_rate(*optimizer, 0.1);
    weight.mutable_grad() = torch::full({1}, 0.5, torch::kFloat64);
    optimizer->step();
  }
  return weight.item<double>();
}

TEST(Optimizer, StepsAsItsRuleSays) {
  // With a constant gradient, Adam's first steps have the size of the learning rate; AdamW first
  // subtracts rate * decay of the weight; SGD's momentum of 0.9 makes the second step 1.9 times as
  // long.
  const Case cases[] = {{"adam", std::nullopt, 1.9, 1.8},
                        {"adamw", std::nullopt, 2 * 0.999 - 0.1, (2 * 0.999 - 0.1) * 0.999 - 0.1},
                        {"adamw", 0.0, 1.9, 1.8},
                        {"sgd", std::nullopt, 1.95, 1.95 - 0.095},
                        {"sgd", 0.1, 2 - 0.07, 2 - 0.07 - 0.1 * (0.9 * 0.7 + 0.5 + 0.1 * 1.93)}};
  for (const Case& c : cases) {
    EXPECT_NEAR(weight_after(c, 1), c.after_one_step, 1e-6) << c.optimizer;
    EXPECT_NEAR(weight_after(c, 2), c.after_two, 1e-6) << c.optimizer;
  }
}

TEST(Optimizer, AnUnknownNameIsAUsageError) {
  OptimizationOptions options;
  options.optimizer = "lamb";
  EXPECT_THROW(make_optimizer({torch::ones({1})}, options), UsageError);
}

TEST(Optimizer, GradientsAreShortenedTogether) {
  const std::vector<torch::Tensor> weights{torch::zeros({2}).set_requires_grad(true),
                                           torch::zeros({1}).set_requires_grad(true)};
  const auto optimizer = make_optimizer(weights, {});
  const auto set_gradients = [&] {
    torch::Tensor first = weights[0];
    torch::Tensor second = weights[1];
    first.mutable_grad() = torch::full({2}, 2.0);
    second.mutable_grad() = torch::full({1}, 1.0);
  };
  set_gradients();
  limit_gradients(*optimizer, 1.5);  // from a norm of 3
  EXPECT_NEAR(weights[0].grad()[0].item<double>(), 1.0, 1e-5);
  EXPECT_NEAR(weights[1].grad()[0].item<double>(), 0.5, 1e-5);
  for (const double none : {0.0, 10.0}) {
    set_gradients();
    limit_gradients(*optimizer, none);
    EXPECT_NEAR(weights[0].grad()[0].item<double>(), 2.0, 1e-5) << none;
  }
}

}  // namespace
}  // namespace hpcboot::train
