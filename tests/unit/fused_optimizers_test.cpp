#include "loop/fused_optimizers.hpp"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <memory>

#include "loop/optimizer.hpp"
#include "loop/training_tensors.hpp"

namespace hpcboot::train {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamW;
using torch::optim::AdamWOptions;
using torch::optim::SGD;
using torch::optim::SGDOptions;

/// Steps number `begin` to `end`, each with different gradients; the second parameter has none in
/// every other step, including the first.
void make_steps(torch::optim::Optimizer& optimizer, const std::vector<torch::Tensor>& parameters,
                int begin, int end) {
  for (int step = begin; step < end; ++step) {
    torch::manual_seed(static_cast<std::uint64_t>(step));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      torch::Tensor parameter = parameters[i];
      parameter.mutable_grad() =
          i == 1 && step % 2 == 0 ? torch::Tensor() : torch::randn_like(parameter);
    }
    set_learning_rate(optimizer, 0.1 / (1 + step));
    optimizer.step();
  }
}

template <typename Optimizer, typename Options>
std::vector<torch::Tensor> after_steps(const Options& options) {
  torch::manual_seed(7);
  // The first as the trainer stores convolutions' weights: channels last.
  const std::vector<torch::Tensor> parameters{torch::randn({4, 3, 2, 2})
                                                  .contiguous(torch::MemoryFormat::ChannelsLast)
                                                  .set_requires_grad(true),
                                              torch::randn({5}).set_requires_grad(true)};
  Optimizer optimizer(parameters, options);
  make_steps(optimizer, parameters, 0, 6);
  return parameters;
}

void expect_near(const std::vector<torch::Tensor>& found,
                 const std::vector<torch::Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT((found[i] - expected[i]).abs().max().item<double>(), 1e-6) << "parameter " << i;
  }
}

/// Six steps of `Second`, and three of it after three of `First` with the state that a checkpoint
/// keeps of them.
template <typename First, typename Second, typename Options>
void expect_goes_on(const Options& options) {
  const auto model = [] {
    torch::manual_seed(7);
    return std::make_shared<torch::nn::LinearImpl>(3, 2);
  };
  const auto before = model();
  First first(before->parameters(), options);
  make_steps(first, before->parameters(), 0, 3);
  const auto after = model();
  Second second(after->parameters(), options);
  restore_training_tensors(training_tensors(*before, first), *after, second, "a test");
  make_steps(second, after->parameters(), 3, 6);

  const auto uninterrupted = model();
  Second whole(uninterrupted->parameters(), options);
  make_steps(whole, uninterrupted->parameters(), 0, 6);
  expect_near(after->parameters(), uninterrupted->parameters());
}

template <typename Fused, typename Plain, typename Options>
void expect_same(const Options& options) {
  expect_near(after_steps<Fused>(options), after_steps<Plain>(options));
  expect_goes_on<Fused, Plain>(options);
  expect_goes_on<Plain, Fused>(options);
}

TEST(FusedOptimizers, AdamStepsAsAdamDoes) {
  for (const double decay : {0.0, 0.1}) {
    SCOPED_TRACE(decay);
    expect_same<FusedAdam, Adam>(AdamOptions(0.01).weight_decay(decay));
    expect_same<FusedAdamW, AdamW>(AdamWOptions(0.01).weight_decay(decay));
  }
}

TEST(FusedOptimizers, AdamInDoublePrecisionStepsAsAdamDoes) {
  const auto trained = [](auto make) {
    torch::manual_seed(7);
    const std::vector<torch::Tensor> parameters{
        torch::randn({33, 5}, torch::kDouble).set_requires_grad(true),
        torch::randn({5}, torch::kDouble).set_requires_grad(true)};
    auto optimizer = make(parameters);
    make_steps(optimizer, parameters, 0, 6);
    return parameters;
  };
  const auto options = AdamOptions(0.01).weight_decay(0.1);
  const auto found = trained([&](const auto& of) { return FusedAdam(of, options); });
  const auto expected = trained([&](const auto& of) { return Adam(of, options); });
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT((found[i] - expected[i]).abs().max().item<double>(), 1e-14) << "parameter " << i;
  }
}

TEST(FusedOptimizers, AdamRoundsAnElementAlikeWhereverItIs) {
  // Longer than a task of at::parallel_for, and its end does not fill a vector.
  constexpr std::int64_t kSize = 70'003;
  const auto trained = [](const std::vector<std::int64_t>& lengths) {
    torch::manual_seed(7);
    const torch::Tensor start = torch::randn({kSize});
    std::vector<torch::Tensor> parts = start.split_with_sizes(lengths);
    for (torch::Tensor& part : parts) part = part.clone().set_requires_grad(true);
    FusedAdam optimizer(parts, AdamOptions(0.01).weight_decay(0.1));
    for (int step = 0; step < 3; ++step) {
      const auto gradients = torch::randn({kSize}).split_with_sizes(lengths);
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].mutable_grad() = gradients[i];
      optimizer.step();
    }
    return torch::cat(parts).detach();
  };
  EXPECT_TRUE(torch::equal(trained({1, 6, 40'000, kSize - 40'007}), trained({kSize})));
}

TEST(FusedOptimizers, AdamTakesGradientsAndAveragesInAnyOrderInMemory) {
  const auto trained = [](bool is_other_order) {
    torch::manual_seed(7);
    torch::Tensor parameter =
        torch::randn({4, 3, 2, 2}).contiguous(torch::MemoryFormat::ChannelsLast);
    parameter.set_requires_grad(true);
    FusedAdam optimizer({parameter}, AdamOptions(0.01));
    for (int step = 0; step < 3; ++step) {
      torch::Tensor gradient = torch::randn_like(parameter);
      if (is_other_order) gradient = gradient.contiguous();
      parameter.mutable_grad() = gradient;
      optimizer.step();
      // As a checkpoint of another version may restore them.
      auto& state = static_cast<torch::optim::AdamParamState&>(*optimizer.state().begin()->second);
      if (is_other_order) {
        state.exp_avg(state.exp_avg().contiguous());
        state.exp_avg_sq(state.exp_avg_sq().contiguous());
      }
    }
    return parameter.detach();
  };
  EXPECT_TRUE(torch::equal(trained(true), trained(false)));
}

TEST(FusedOptimizers, SgdStepsAsSgdDoes) {
  if (!has_fused_kernel("aten::_fused_sgd_", c10::kCPU)) {
    GTEST_SKIP() << "this LibTorch does not have the kernel";
  }
  for (const double decay : {0.0, 0.1}) {
    SCOPED_TRACE(decay);
    const auto plain = SGDOptions(0.1).weight_decay(decay);
    expect_same<FusedSgd, SGD>(plain);
    auto options = plain;
    options.momentum(0.9);
    expect_same<FusedSgd, SGD>(options);
    auto nesterov = options;
    nesterov.nesterov(true);
    expect_same<FusedSgd, SGD>(nesterov);
    auto damped = options;
    damped.dampening(0.5);
    expect_same<FusedSgd, SGD>(damped);
  }
}

TEST(FusedOptimizers, AKernelThatLibTorchDoesNotHaveIsNotFound) {
  EXPECT_FALSE(has_fused_kernel("aten::_fused_lamb_", c10::kCPU));
}

}  // namespace
}  // namespace hpcboot::train
