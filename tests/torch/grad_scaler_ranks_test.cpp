// Loss scaling on the ranks of a launch: all of them skip the same steps.
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <sstream>

#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/grad_scaler.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

constexpr int kSteps = 7;
constexpr int kOverflowingStep = 2;
constexpr int kGrowthInterval = 3;

class GradScalerOnRanks : public testing::TestWithParam<at::ScalarType> {};

TEST_P(GradScalerOnRanks, AnOverflowOnOneRankLeavesTheStepOutOnAll) {
  torch::manual_seed(3);
  DistributedDataParallelOptions options;
  if (GetParam() != at::kFloat) options.communication_hook = compression_hook(GetParam());
  DistributedDataParallel ddp(here(torch::nn::Linear(4, 2)), *world, options);
  const auto parameters = ddp.module()->parameters();
  torch::optim::SGD optimizer(parameters, 0.1);
  GradScalerOptions scaling;
  scaling.initial_scale = 64;
  scaling.growth_interval = kGrowthInterval;
  GradScaler scaler(scaling);

  std::vector<double> scales;
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    torch::manual_seed(
        static_cast<std::uint64_t>(100 * step + world->rank()));  // each rank has its own images
    torch::Tensor scores = ddp.forward(here(torch::randn({3, 4})));
    if (step == kOverflowingStep && world->rank() == world->world_size() - 1) {
      scores.register_hook([](const torch::Tensor& gradient) {
        return torch::full_like(gradient, std::numeric_limits<double>::infinity());
      });
    }
    scaler.scale(scores.square().mean()).backward();
    const torch::Tensor before = parameters[0].detach().clone();
    const bool finite = scaler.unscale(parameters);
    EXPECT_EQ(finite, step != kOverflowingStep) << "step " << step;
    if (finite) optimizer.step();
    scaler.update();
    scales.push_back(scaler.scale());
    EXPECT_EQ(parameters[0].equal(before), step == kOverflowingStep) << "step " << step;

    std::ostringstream state;
    state.precision(17);
    state << "finite " << finite << " scale " << scaler.scale() << " skipped "
          << scaler.skipped_steps() << " weights";
    const torch::Tensor weights = parameters[0].detach().flatten();
    for (std::int64_t i = 0; i < weights.numel(); ++i) state << ' ' << weights[i].item<float>();
    for (const std::string& other : all_gather_text(*world, state.str())) {
      EXPECT_EQ(other, state.str()) << "step " << step;
    }
  }
  EXPECT_EQ(scaler.skipped_steps(), 1);
  // Halved by the overflow, doubled after three good steps in a row.
  EXPECT_EQ(scales, (std::vector<double>{64, 64, 32, 32, 32, 64, 64}));
}

INSTANTIATE_TEST_SUITE_P(Types, GradScalerOnRanks,
                         testing::Values(at::kFloat, at::kHalf, at::kBFloat16));

}  // namespace
}  // namespace hpcboot
