#include "hpcboot/torch/grad_scaler.hpp"

#include <ATen/Context.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>

#include "hpcboot/torch/precision.hpp"
#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

torch::Tensor with_gradient(double gradient) {
  torch::Tensor parameter = torch::ones({2}).set_requires_grad(true);
  parameter.mutable_grad() = torch::tensor({1.0, gradient}, torch::kFloat32);
  return parameter;
}

struct Case {
  const char* what;
  std::string steps;  ///< of each: '.' finite gradients, 'o' overflow
  double initial_scale;
  std::int64_t growth_interval;
  double scale;  ///< after them
  std::int64_t skipped;
};

// The rule of https://pytorch.org/docs/stable/amp.html#torch.cuda.amp.GradScaler.
const Case kCases[] = {
    {"the start", "", 65536, 2000, 65536, 0},
    {"one overflow halves", "o", 65536, 2000, 32768, 1},
    {"each overflow halves", "ooo", 8, 2000, 1, 3},
    {"growth after the interval", "...", 8, 3, 16, 0},
    {"not before", "..", 8, 3, 8, 0},
    {"and then again from the start", "......", 8, 3, 32, 0},
    {"an overflow starts the interval anew", "..o..", 8, 3, 4, 1},
    {"growth after an overflow", "..o...", 8, 3, 8, 1},
    {"below 1", "oo", 1, 2000, 0.25, 2},
    {"no growth beyond float32", ".", 2e38, 1, 2e38, 0},
};

TEST(GradScaler, FollowsPyTorchsRule) {
  for (const Case& c : kCases) {
    GradScalerOptions options;
    options.initial_scale = c.initial_scale;
    options.growth_interval = c.growth_interval;
    GradScaler scaler(options);
    for (const char step : c.steps) {
      const bool finite = step == '.';
      EXPECT_EQ(scaler.unscale({with_gradient(finite ? 4.0 : kInfinity)}), finite) << c.what;
      scaler.update();
    }
    EXPECT_DOUBLE_EQ(scaler.scale(), c.scale) << c.what;
    EXPECT_EQ(scaler.skipped_steps(), c.skipped) << c.what;
  }
}

TEST(GradScaler, ScalesTheLossAndUnscalesTheGradients) {
  GradScalerOptions options;
  options.initial_scale = 8;
  GradScaler scaler(options);
  EXPECT_DOUBLE_EQ(scaler.scale(torch::tensor(2.0)).item<double>(), 16.0);
  const torch::Tensor parameter = with_gradient(4.0);
  EXPECT_TRUE(scaler.unscale({parameter, torch::ones({1})})) << "one without a gradient";
  EXPECT_TRUE(parameter.grad().equal(torch::tensor({0.125f, 0.5f})));
}

TEST(GradScaler, AnyGradientThatIsNoFiniteNumberIsAnOverflow) {
  for (const double bad : {kInfinity, -kInfinity, kNaN}) {
    GradScaler scaler;
    EXPECT_FALSE(scaler.unscale({with_gradient(1), with_gradient(bad), with_gradient(1)})) << bad;
  }
}

TEST(GradScaler, ASecondUnscaleOfAStepIsRefusedAndChangesNothing) {
  GradScalerOptions options;
  options.initial_scale = 2;
  GradScaler scaler(options);
  const torch::Tensor parameter = with_gradient(1.0);
  const torch::Tensor other = with_gradient(1.0);
  scaler.unscale({parameter});
  expect_error(
      ErrorCode::invalid_model_use,
      [&] {
        scaler.unscale({other, parameter});
      },
      "a second unscale() of the same gradients");
  EXPECT_DOUBLE_EQ(other.grad()[0].item<double>(), 1.0);
  EXPECT_DOUBLE_EQ(parameter.grad()[0].item<double>(), 0.5);
  scaler.update();
  scaler.unscale({parameter});
  EXPECT_DOUBLE_EQ(parameter.grad()[0].item<double>(), 0.25);
}

TEST(GradScaler, SeveralModelsShareAScaler) {
  GradScalerOptions options;
  options.initial_scale = 8;
  GradScaler scaler(options);
  EXPECT_FALSE(scaler.unscale({with_gradient(kInfinity)}));
  EXPECT_TRUE(scaler.unscale({with_gradient(1.0)})) << "its own optimizer may step";
  scaler.update();
  EXPECT_DOUBLE_EQ(scaler.scale(), 4.0) << "the overflow of one reduces the scale of all";
}

TEST(GradScaler, CountsWhatIsSkippedInARow) {
  GradScaler scaler;
  for (const double gradient : {kInfinity, kInfinity, 1.0, kInfinity}) {
    scaler.unscale({with_gradient(gradient)});
    scaler.update();
  }
  EXPECT_EQ(scaler.skipped_in_a_row(), 1);
  EXPECT_EQ(scaler.skipped_steps(), 3);
}

TEST(GradScaler, GoesOnFromAState) {
  GradScalerOptions options;
  options.initial_scale = 8;
  options.growth_interval = 2;
  GradScaler first(options);
  first.unscale({with_gradient(kInfinity)});
  first.update();
  first.unscale({with_gradient(1)});
  first.update();
  GradScaler second(options);
  second.restore(first.state());
  second.unscale({with_gradient(1)});
  second.update();
  EXPECT_DOUBLE_EQ(second.scale(), 8.0);
  EXPECT_EQ(second.skipped_steps(), 1);
}

TEST(GradScaler, RefusesFactorsThatMakeNoSense) {
  GradScalerOptions options;
  options.growth_interval = 0;
  expect_error(
      ErrorCode::invalid_model_use, [&] { GradScaler scaler(options); }, "every 0 steps");
}

TEST(Precision, Bf16OnTheCpuComputesInBf16AndOnlyWhileAutocastLives) {
  const torch::Device cpu(torch::kCPU);
  const torch::Tensor a = torch::ones({2, 2});
  {
    const Autocast autocast(Precision::bf16, cpu);
    EXPECT_EQ(a.mm(a).scalar_type(), torch::kBFloat16);
  }
  EXPECT_EQ(a.mm(a).scalar_type(), torch::kFloat32);
  const Autocast nothing(Precision::fp32, cpu);
  EXPECT_EQ(a.mm(a).scalar_type(), torch::kFloat32);
}

TEST(Precision, Tf32IsForWhoAsksForItOnly) {
  const torch::Device cuda(torch::kCUDA, 0);
  for (const char* name : {"fp32", "tf32", "bf16", "tf32", "fp16"}) {
    const Precision precision = precision_of(name);
    use_precision(precision, cuda);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), precision == Precision::tf32) << name;
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(), precision == Precision::tf32) << name;
  }
}

TEST(Precision, WhatTheCpuCannotDoIsAClearError) {
  const torch::Device cpu(torch::kCPU);
  for (const char* name : {"fp16", "tf32"}) {
    expect_error(
        ErrorCode::backend_unavailable, [&] { use_precision(precision_of(name), cpu); }, name,
        "bf16");
  }
  use_precision(Precision::bf16, cpu);
  expect_error(
      ErrorCode::malformed_value, [] { precision_of("fp8"); }, "fp8");
}

}  // namespace
}  // namespace hpcboot
