// The ways in which DistributedDataParallel exchanges gradients, on the ranks of a launch.
#include <gmock/gmock.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <stdexcept>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/communication_hook.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/post_local_sgd.hpp"
#include "hpcboot/torch/power_sgd.hpp"
#include "torch/small_net.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

using Ddp = DistributedDataParallel<std::shared_ptr<models::Model>>;

DistributedDataParallelOptions with_hook(std::shared_ptr<CommunicationHook> hook) {
  DistributedDataParallelOptions options;
  options.communication_hook = std::move(hook);
  options.bucket_cap_mb = 0.1;  // results in several buckets
  options.first_bucket_mb = 0.01;
  return options;
}

void clear_gradients(Ddp& ddp) {
  for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
}

/// A step on this rank's four images of the batch, without the optimizer's.
void compute_gradients(Ddp& ddp, const Data& data) {
  const Data mine = data.part(4 * world->rank(), 4);
  clear_gradients(ddp);
  loss_of(ddp.forward(mine.images), mine.labels).backward();
}

Data batch() {
  return make_data(4 * world->world_size());
}

Gradients expected_of_batch() {
  const Data data = batch();
  return expected_gradients(
      [&](models::Model& model) { return loss_of(model.forward(data.images), data.labels); });
}

class Compression : public testing::TestWithParam<std::pair<at::ScalarType, double>> {};

TEST_P(Compression, RoundsTheGradientsAndNothingElse) {
  const auto [type, tolerance] = GetParam();
  const Gradients expected = expected_of_batch();
  Ddp ddp(make_net(), *world, with_hook(compression_hook(type)));
  Ddp plain(make_net(), *world);
  for (int step = 0; step < 2; ++step) {
    compute_gradients(plain, batch());
    compute_gradients(ddp, batch());
    EXPECT_EQ(ddp.statistics().bytes * 2, plain.statistics().bytes);
    const Gradients found = gradients_of(*ddp.module());
    expect_close(found, expected, tolerance);
    EXPECT_FALSE(found[0].equal(expected[0])) << "nothing was compressed";
    for (const torch::Tensor& gradient : found) EXPECT_TRUE(same_on_all_ranks(gradient));
  }
}

// A few rounding errors at 8 and 11 bits, of parts that are larger than their mean.
INSTANTIATE_TEST_SUITE_P(Types, Compression,
                         testing::Values(std::pair{at::kBFloat16, 4.0 / 256},
                                         std::pair{at::kHalf, 8.0 / 2048}));

TEST(Hooks, OneOfYourOwnExchangesGradientsInItsWay) {
  struct Halved : CommunicationHook {
    Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
      buckets += 1;
      last += bucket.is_last ? 1 : 0;
      parameters += bucket.parameters().size();
      EXPECT_EQ(bucket.parts().size(), bucket.parameters().size());
      return all_reduce(group, bucket.gradients, ReduceOp::average)
          .then([](const at::Tensor& mean) { return mean * 0.5; });
    }
    std::size_t buckets = 0;
    std::size_t last = 0;
    std::size_t parameters = 0;
  };
  const auto hook = std::make_shared<Halved>();
  Ddp ddp(make_net(), *world, with_hook(hook));
  Gradients expected = expected_of_batch();
  for (torch::Tensor& gradient : expected) gradient = gradient / 2;
  for (int step = 0; step < 2; ++step) {
    compute_gradients(ddp, batch());
    expect_close(gradients_of(*ddp.module()), expected, 1e-5);
  }
  EXPECT_GT(hook->buckets, 2U);
  EXPECT_EQ(hook->last, 2U);
  EXPECT_EQ(hook->parameters, 2 * expected.size());
}

TEST(Hooks, WhatOneThrowsIsThrownByTheBackwardPass) {
  struct Broken : CommunicationHook {
    explicit Broken(bool early) : is_early(early) {}
    Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) override {
      if (is_early) throw Error(ErrorCode::diverged, "early", "-", "-");
      return all_reduce(group, bucket.gradients).then([](const at::Tensor& mean) {
        if (mean.defined()) throw Error(ErrorCode::diverged, "late", "-", "-");
        return mean;
      });
    }
    bool is_early;
  };
  for (const bool early : {true, false}) {
    Ddp ddp(make_net(), *world, with_hook(std::make_shared<Broken>(early)));
    try {
      compute_gradients(ddp, batch());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.found(), early ? "early" : "late");
    }
  }
}

TEST(Hooks, PowerSgdOfAGradientOfLowRankIsTheGradient) {
  PowerSgdOptions options;
  options.rank = 4;
  options.start_step = 1;
  struct Low : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return layer->forward(x); }
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(40, 30));
  };
  DistributedDataParallel ddp(here(std::make_shared<Low>()), *world,
                              with_hook(power_sgd_hook(options)));
  DistributedDataParallel plain(here(std::make_shared<Low>()), *world);
  // With one sample on each of at most four ranks, the gradient has a rank of at most 4.
  for (int step = 0; step < 4; ++step) {
    torch::manual_seed(static_cast<std::uint64_t>(100 * step + world->rank()));
    const torch::Tensor x = here(torch::randn({1, 40}));
    const torch::Tensor weight = here(torch::randn({1, 30}));
    for (auto* one : {&ddp, &plain}) {
      one->module()->zero_grad();
      (one->forward(x) * weight).sum().backward();
    }
    const torch::Tensor found = ddp.module()->layer->weight.grad();
    EXPECT_TRUE(found.allclose(plain.module()->layer->weight.grad(), 1e-3, 1e-4)) << step;
    EXPECT_TRUE(ddp.module()->layer->bias.grad().allclose(plain.module()->layer->bias.grad()));
    EXPECT_TRUE(same_on_all_ranks(found));
    if (step == 0) continue;
    EXPECT_EQ(ddp.statistics().bytes, (4 * (40 + 30) + 30) * 4) << "thin matrices, and the bias";
  }
}

/// The loss on the batch after some steps with this hook.
double loss_after_training(const std::shared_ptr<CommunicationHook>& hook, double lr, int steps) {
  Ddp ddp(make_net(), *world, with_hook(hook));
  torch::optim::SGD optimizer(ddp.module()->parameters(), lr);
  const Data data = batch();
  for (int step = 0; step < steps; ++step) {
    compute_gradients(ddp, data);
    optimizer.step();
  }
  const torch::NoGradGuard no_grad;
  return loss_of(ddp.module()->forward(data.images), data.labels).item<double>();
}

TEST(Hooks, PowerSgdLearnsWhatItLeavesOutLater) {
  PowerSgdOptions options;
  options.start_step = 2;
  const double start = loss_after_training(all_reduce_hook(), 0.05, 0);
  const double plain = loss_after_training(all_reduce_hook(), 0.05, 30);
  const double approximated = loss_after_training(power_sgd_hook(options), 0.05, 30);
  EXPECT_LT(plain, 0.8 * start);
  EXPECT_LT(approximated, 0.85 * start);
}

TEST(Hooks, PostLocalSgdAveragesInTheSubgroupFromAStepOn) {
  ProcessGroup pair = world->split(world->rank() / 2);
  DistributedDataParallel ddp(here(torch::nn::Linear(1, 1)), *world,
                              with_hook(post_local_sgd_hook(pair, 2)));
  ModelAverager averager(*world, {2, 3});
  const double of_all = (world->world_size() - 1) / 2.0;
  double of_pair = 0;
  for (const int rank : pair.global_ranks()) of_pair += rank;
  of_pair /= pair.world_size();
  for (int step = 0; step < 8; ++step) {
    ddp.module()->zero_grad();
    ddp.forward(here(torch::full({1, 1}, static_cast<double>(world->rank())))).sum().backward();
    EXPECT_NEAR(ddp.module()->weight.grad().item<double>(), step < 2 ? of_all : of_pair, 1e-6);
    const torch::NoGradGuard no_grad;
    ddp.module()->weight.fill_(world->rank());
    const bool averaged = averager.step(ddp.module()->parameters());
    EXPECT_EQ(averaged, step == 2 || step == 5) << step;
    EXPECT_NEAR(ddp.module()->weight.item<double>(), averaged ? of_all : world->rank(), 1e-6);
  }
  pair.shutdown();
}

TEST(Hooks, ParametersThatLayersShareAreAveragedOnce) {
  ModelAverager averager(*world, {0, 1});
  const torch::Tensor shared = here(torch::full({3}, world->rank() + 1.0));
  averager.step({shared, shared});
  EXPECT_TRUE(shared.allclose(here(torch::full({3}, (world->world_size() + 1) / 2.0))));
}

TEST(Hooks, PowerSgdKeepsThePrecisionOfTheGradients) {
  PowerSgdOptions options;
  options.start_step = 1;
  options.rank = 2;
  torch::nn::Linear layer(20, 20);
  layer->to(device, torch::kDouble);
  DistributedDataParallel ddp(layer, *world, with_hook(power_sgd_hook(options)));
  for (int step = 0; step < 3; ++step) {
    layer->zero_grad();
    ddp.forward(here(torch::full({1, 20}, 1.0 / 3, torch::kDouble))).sum().backward();
  }
  EXPECT_TRUE(layer->bias.grad().equal(here(torch::ones({20}, torch::kDouble))));
  EXPECT_TRUE(layer->weight.grad().allclose(here(torch::full({20, 20}, 1.0 / 3, torch::kDouble)),
                                            1e-12, 1e-12));
}

TEST(Hooks, SettingsThatDifferBetweenRanksAreRefusedOnEveryRank) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs two ranks";
  PowerSgdOptions options;
  options.rank = world->rank() + 1;
  try {
    Ddp(make_net(), *world, with_hook(power_sgd_hook(options)));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.found(), testing::HasSubstr("PowerSGD of rank 2"));
  }
}

TEST(Hooks, SettingsThatCannotWorkAreRefused) {
  EXPECT_THROW(compression_hook(at::kFloat), Error);
  PowerSgdOptions options;
  options.rank = 0;
  EXPECT_THROW(power_sgd_hook(options), Error);
  EXPECT_THROW(ModelAverager(*world, {0, 0}), Error);
}

TEST(Hooks, StatisticsTellBytesBucketsTimesAndOverlap) {
  Ddp ddp(make_net(), *world, with_hook(nullptr));
  std::int64_t elements = 0;
  for (const torch::Tensor& parameter : ddp.module()->parameters()) elements += parameter.numel();
  EXPECT_EQ(ddp.statistics().exchanges, 0);
  EXPECT_TRUE(ddp.statistics().buckets.empty());
  for (int step = 0; step < 3; ++step) {
    const auto before = std::chrono::steady_clock::now();
    compute_gradients(ddp, batch());
    const auto after = std::chrono::steady_clock::now();
    const ExchangeStatistics found = ddp.statistics();
    EXPECT_EQ(found.exchanges, step + 1);
    EXPECT_EQ(found.bytes, elements * 4);
    EXPECT_GT(found.last_gradient, before);
    EXPECT_LT(found.last_gradient, after);
    EXPECT_EQ(found.buckets.size() > 1, step > 0) << "the first step has one bucket";
    std::int64_t sum = 0;
    for (const auto& bucket : found.buckets) {
      sum += bucket.bytes;
      EXPECT_GT(bucket.exchange_seconds, 0);
      EXPECT_LE(bucket.exchange_seconds, found.busy_seconds + 1e-9);
    }
    EXPECT_EQ(sum, found.bytes);
    EXPECT_GE(found.overlap(), 0);
    EXPECT_LE(found.overlap(), 1);
    EXPECT_LT(found.busy_seconds, std::chrono::duration<double>(after - before).count());
  }
  const ExchangeStatistics last = ddp.statistics();
  {
    const auto guard = ddp.no_sync();
    compute_gradients(ddp, batch());
  }
  EXPECT_EQ(ddp.statistics().exchanges, 3);
  EXPECT_EQ(ddp.statistics().last_gradient, last.last_gradient);
  EXPECT_EQ(ddp.statistics().overlap(), last.overlap());
}

}  // namespace
}  // namespace hpcboot
