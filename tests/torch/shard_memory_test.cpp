// What fully_shard() keeps in memory, in bytes of live tensors.
#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "support/counted_memory.hpp"
#include "torch/transformer.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

constexpr std::int64_t kSize = 128;
constexpr std::int64_t kLayers = 8;

std::unique_ptr<torch::optim::Optimizer> adam(const ShardedOptimizer::Groups& groups) {
  return std::make_unique<torch::optim::Adam>(groups, torch::optim::AdamOptions(1e-3));
}

struct Bytes {
  double state = 0;  ///< between steps: weights, averages
  double peak = 0;   ///< while gradients are computed
};

/// Gloo's threads drop the tensors of a transfer a moment after it has ended.
std::int64_t settled_live() {
  constexpr int kEqualReadings = 20;
  std::int64_t last = -1;
  for (int equal = 0, readings = 0; equal < kEqualReadings && readings < 1000; ++readings) {
    const std::int64_t now = counted_memory::live();
    equal = now == last ? equal + 1 : 0;
    last = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return last;
}

/// Of a step after the first, beyond what was in memory before.
Bytes bytes_of(const std::function<std::function<void()>()>& start) {
  const std::int64_t before = settled_live();
  const std::function<void()> step = start();
  step();
  settled_live();
  counted_memory::forget_peak();
  step();
  const std::int64_t peak = counted_memory::peak();
  return {static_cast<double>(settled_live() - before), static_cast<double>(peak - before)};
}

torch::Tensor text() {
  return torch::arange(4, torch::kLong).reshape({1, 4});
}

Bytes bytes_of_ddp() {
  return bytes_of([] {
    auto ddp = std::make_shared<DistributedDataParallel<std::shared_ptr<Transformer>>>(
        std::make_shared<Transformer>(kSize, kLayers, 16), *world);
    const std::shared_ptr<torch::optim::Optimizer> optimizer =
        adam({torch::optim::OptimizerParamGroup(ddp->module()->parameters())});
    return [=] {
      loss_of_text(ddp->forward(text()), text()).backward();
      optimizer->step();
      ddp->module()->zero_grad(/*set_to_none=*/true);
    };
  });
}

Bytes bytes_of_shards(bool reshards) {
  return bytes_of([=] {
    FullyShardOptions options;
    options.reshard_after_forward = reshards;
    auto model = fully_shard(std::make_shared<Transformer>(kSize, kLayers, 16), *world, options);
    auto optimizer = std::make_shared<ShardedOptimizer>(*model, adam);
    return [=] {
      loss_of_text(model->forward(text()), text()).backward();
      optimizer->step();
      model->zero_grad(/*set_to_none=*/true);
    };
  });
}

TEST(ShardMemory, StateIsAShare) {
  const double weights = bytes_of_ddp().state / 4;  // and buckets of the gradients, two averages
  const double ranks = world->world_size();
  const double found = bytes_of_shards(true).state;
  EXPECT_NEAR(found, 3 * weights / ranks, 0.05 * 3 * weights / ranks);
}

TEST(ShardMemory, WeightsAndGradientsAreThoseOfFewUnits) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const double weights = bytes_of_ddp().state / 4;
  const double ranks = world->world_size();
  const double unit = weights / kLayers;
  // Gradients and averages of this rank; weights of two units; and of two units the gradients, as
  // they are computed, sent and received. Activations are small here.
  const double shares = 4 * weights / ranks;
  const double peak = bytes_of_shards(true).peak;
  EXPECT_LE(peak, shares + 8 * unit);
  EXPECT_GE(peak, shares);
  // All weights in addition, before there are gradients.
  EXPECT_LE(bytes_of_shards(false).peak, shares + weights + 8 * unit);
  EXPECT_GE(bytes_of_shards(false).peak, 0.75 * shares + weights);
  const double whole = bytes_of_ddp().peak;
  RecordProperty("bytes", std::to_string(peak) + " ZeRO-3, " + std::to_string(whole) + " DDP");
}

}  // namespace
}  // namespace hpcboot
