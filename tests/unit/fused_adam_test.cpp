#include "loop/fused_adam.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "loop/optimizer.hpp"

namespace hpcboot::train {
namespace {

/// Two parameters after some steps with gradients that the seed gives; the second has none in every
/// other step.
template <typename Optimizer, typename Options>
std::vector<torch::Tensor> after_steps(double weight_decay) {
  torch::manual_seed(7);
  const std::vector<torch::Tensor> parameters{torch::randn({4, 3, 2, 2}).set_requires_grad(true),
                                              torch::randn({5}).set_requires_grad(true)};
  Optimizer optimizer(parameters, Options(0.01).weight_decay(weight_decay));
  for (int step = 0; step < 6; ++step) {
    parameters[0].mutable_grad() = torch::randn_like(parameters[0]);
    parameters[1].mutable_grad() =
        step % 2 == 0 ? torch::randn_like(parameters[1]) : torch::Tensor();
    set_learning_rate(optimizer, 0.01 / (1 + step));
    optimizer.step();
  }
  return parameters;
}

template <typename Fused, typename Reference, typename Options>
void expect_same(double weight_decay) {
  const std::vector<torch::Tensor> fused = after_steps<Fused, Options>(weight_decay);
  const std::vector<torch::Tensor> reference = after_steps<Reference, Options>(weight_decay);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    EXPECT_LT((fused[i] - reference[i]).abs().max().item<double>(), 1e-6) << weight_decay;
  }
}

TEST(FusedAdam, StepsAsAdamDoes) {
  const auto kernel = c10::Dispatcher::singleton().findSchema({"aten::_fused_adam_", ""});
  ASSERT_TRUE(kernel);
  if (!kernel->hasKernelForDispatchKey(c10::DispatchKey::CPU)) {
    GTEST_SKIP() << "this LibTorch has the kernel for CUDA devices only";
  }
  using torch::optim::Adam;
  using torch::optim::AdamOptions;
  using torch::optim::AdamW;
  using torch::optim::AdamWOptions;
  expect_same<FusedAdam, Adam, AdamOptions>(0);
  expect_same<FusedAdam, Adam, AdamOptions>(0.1);
  expect_same<FusedAdamW, AdamW, AdamWOptions>(0);
  expect_same<FusedAdamW, AdamW, AdamWOptions>(0.1);
}

}  // namespace
}  // namespace hpcboot::train
