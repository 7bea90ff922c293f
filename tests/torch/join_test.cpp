// Training on ranks that have different numbers of batches.
#include <gmock/gmock.h>
#include <torch/data/dataloader.h>
#include <torch/data/datasets/base.h>
#include <torch/data/transforms/stack.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/join.hpp"
#include "hpcboot/torch/loader_sampler.hpp"
#include "hpcboot/torch/sync_batch_norm.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

int batches_of(int rank) {
  return 2 * rank;  // rank 0 has none at all
}

torch::Tensor batch(int rank, int step) {
  return torch::sin(here(torch::arange(6, torch::kFloat)) + 10 * rank + step).view({2, 3});
}

std::shared_ptr<torch::nn::LinearImpl> make_layer() {
  torch::manual_seed(3);
  return here(torch::nn::Linear(3, 2).ptr());
}

/// The weights that one process gets: the gradients of the ranks that take a step are added, and
/// divided by the number of all ranks.
torch::Tensor expected_weights() {
  const auto layer = make_layer();
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  for (int step = 0; step < batches_of(world->world_size() - 1); ++step) {
    optimizer.zero_grad();
    for (int rank = 0; rank < world->world_size(); ++rank) {
      if (step >= batches_of(rank)) continue;
      (layer->forward(batch(rank, step)).square().sum() / world->world_size()).backward();
    }
    optimizer.step();
  }
  return layer->weight.detach();
}

class JoinWith : public testing::TestWithParam<DistributedDataParallelOptions> {};

TEST_P(JoinWith, RanksWithoutBatchesFollowTheOthers) {
  DistributedDataParallel ddp(make_layer(), *world, GetParam());
  torch::optim::SGD optimizer(ddp.module()->parameters(), 0.1);
  for (int epoch = 0; epoch < 1; ++epoch) {
    Join join(*world, {&ddp.joinable()});
    for (int step = 0; step < batches_of(world->rank()); ++step) {
      optimizer.zero_grad();
      ddp.forward(batch(world->rank(), step)).square().sum().backward();
      optimizer.step();
    }
    join.finish();
  }
  EXPECT_TRUE(ddp.module()->weight.allclose(expected_weights(), 1e-5, 1e-6))
      << ddp.module()->weight << expected_weights();
  // Without a Join again, for the same number of batches.
  ddp.module()->zero_grad();
  ddp.forward(batch(0, 0)).sum().backward();
}

DistributedDataParallelOptions plain() {
  return {};
}
DistributedDataParallelOptions small_buckets() {
  DistributedDataParallelOptions options;
  options.bucket_cap_mb = 1e-6;
  return options;
}
DistributedDataParallelOptions unused() {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  return options;
}
DistributedDataParallelOptions viewed() {
  DistributedDataParallelOptions options;
  options.gradient_as_bucket_view = true;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Options, JoinWith,
                         testing::Values(plain(), small_buckets(), unused(), viewed()));

TEST(Join, GradientsThatAreAccumulatedAreNoProblem) {
  DistributedDataParallel ddp(make_layer(), *world);
  Join join(*world, {&ddp.joinable()});
  for (int step = 0; step < batches_of(world->rank()); ++step) {
    ddp.module()->zero_grad();
    {
      const auto guard = ddp.no_sync();
      ddp.forward(batch(world->rank(), step)).sum().backward();
    }
    ddp.forward(batch(world->rank(), step)).sum().backward();
  }
  join.finish();
  EXPECT_EQ(ddp.statistics().exchanges, batches_of(world->world_size() - 1));
}

TEST(Join, BuffersAreThoseOfARankThatTrains) {
  struct Normed : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return layer->forward(norm->forward(x)); }
    torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(3));
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(3, 1));
  };
  DistributedDataParallel ddp(here(std::make_shared<Normed>()), *world);
  Join join(*world, {&ddp.joinable()});
  for (int step = 0; step < batches_of(world->rank()); ++step) {
    ddp.forward(batch(world->rank(), step) + 5).sum().backward();
  }
  join.finish();
  const auto norm = ddp.module()->norm;
  EXPECT_EQ(norm->running_mean.min().item<double>() > 0.5, world->world_size() > 1);
  EXPECT_EQ(norm->num_batches_tracked.item<int>(), batches_of(world->world_size() - 1));
}

TEST(Join, APairOfModelsAndAPartOfTheUserJoinTogether) {
  // Counts, over all ranks, the batches of each step.
  struct Counter : Joinable {
    void count(int mine) {
      counts.push_back(all_reduce(*world, here(torch::full({1}, mine, torch::kLong)))
                           .wait()
                           .item<std::int64_t>());
    }
    void shadow_step() override { count(0); }
    std::vector<std::int64_t> counts;
  };
  DistributedDataParallel first(make_layer(), *world);
  DistributedDataParallel second(here(torch::nn::Linear(2, 1)), *world);
  Counter counter;
  Join join(*world, {&first.joinable(), &second.joinable(), &counter});
  for (int step = 0; step < batches_of(world->rank()); ++step) {
    const torch::Tensor features = first.forward(batch(world->rank(), step));
    features.sum().backward();
    second.forward(features.detach()).sum().backward();
    counter.count(1);
  }
  join.finish();
  const int last = batches_of(world->world_size() - 1);
  ASSERT_EQ(counter.counts.size(), static_cast<std::size_t>(last));
  for (int step = 0; step < last; ++step) {
    int active = 0;
    for (int rank = 0; rank < world->world_size(); ++rank)
      active += step < batches_of(rank) ? 1 : 0;
    EXPECT_EQ(counter.counts[static_cast<std::size_t>(step)], active);
  }
}

TEST(Join, CanThrowAsSoonAsARankHasFinished) {
  DistributedDataParallel ddp(make_layer(), *world);
  JoinOptions options;
  options.throw_on_early_end = true;
  Join join(*world, {&ddp.joinable()}, options);
  try {
    for (int step = 0; step < batches_of(world->rank()); ++step) {
      ddp.forward(batch(world->rank(), step)).sum().backward();
    }
    join.finish();
    EXPECT_EQ(world->world_size(), 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::stopped);
    EXPECT_THAT(error.found(), testing::HasSubstr("has no further batch"));
  }
}

TEST(Join, MayEndWithinAnAccumulation) {
  struct Counted : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return layer->forward(x + count); }
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(3, 1));
    torch::Tensor count = register_buffer("count", here(torch::zeros({1})));
  };
  DistributedDataParallel ddp(here(std::make_shared<Counted>()), *world);
  for (int epoch = 0; epoch < 2; ++epoch) {
    Join join(*world, {&ddp.joinable()});
    // One pass more than complete accumulations on all ranks but the last.
    const bool is_last = world->rank() == world->world_size() - 1;
    for (int pass = 0; pass < (is_last ? 4 : 1); ++pass) {
      if (pass % 2 == 0) {
        const auto guard = ddp.no_sync();
        ddp.forward(batch(0, pass)).sum().backward();
      } else {
        ddp.forward(batch(0, pass)).sum().backward();
      }
    }
    join.finish();
    ddp.module()->count.fill_(world->rank());
    ddp.forward(batch(0, 0)).sum().backward();
    EXPECT_EQ(ddp.module()->count.item<int>(), 0) << "rank 0's buffer came with the forward";
  }
}

TEST(Join, ModelsThatCannotJoinAreRefused) {
  DistributedDataParallelOptions options;
  options.static_graph = true;
  DistributedDataParallel first(make_layer(), *world);
  DistributedDataParallel static_graph(make_layer(), *world, options);
  EXPECT_THROW(Join(*world, {&first.joinable(), &static_graph.joinable()}), Error);
  first.forward(batch(0, 0)).sum().backward();  // belongs to no Join

  struct Normed : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return norm->forward(x); }
    BatchNorm1d norm = register_module("norm", BatchNorm1d(3));
  };
  const auto model = here(std::make_shared<Normed>());
  synchronize_batch_norms(*model, *world);
  DistributedDataParallel normed(model, *world);
  EXPECT_THROW(Join(*world, {&normed.joinable()}), Error);
  JoinOptions early;
  early.throw_on_early_end = true;
  Join(*world, {&normed.joinable()}, early);

  ProcessGroup alone = world->split(world->rank());
  DistributedDataParallel elsewhere(make_layer(), alone);
  if (world->world_size() > 1) {
    EXPECT_THROW(Join(*world, {&elsewhere.joinable()}), Error);
  }
  alone.shutdown();
}

TEST(Join, HasNoStepAfterItsEnd) {
  struct Part : Joinable {
    void shadow_step() override {}
  } part;
  Join join(*world, {&part});
  join.step(&part);
  join.finish();
  join.finish();
  EXPECT_THROW(join.step(&part), Error);
}

struct Numbers : torch::data::datasets::Dataset<Numbers> {
  torch::data::Example<> get(std::size_t index) override {
    const auto value = torch::full({3}, static_cast<double>(index));
    return {value, value.sum()};
  }
  torch::optional<std::size_t> size() const override { return 23; }
};

TEST(LoaderSampler, ALoaderGivesEveryRankItsSamplesOfAnEpochAndGoesOnWithinOne) {
  LoaderSampler sampler(23, world->world_size(), world->rank());
  const DistributedSampler reference(23, world->world_size(), world->rank());
  auto loader = torch::data::make_data_loader(
      Numbers().map(torch::data::transforms::Stack<>()), sampler,
      torch::data::DataLoaderOptions(2).workers(2).enforce_ordering(true));
  const auto pass = [&] {
    std::vector<std::int64_t> seen;
    for (auto& one : *loader) {
      for (std::int64_t i = 0; i < one.data.size(0); ++i) {
        seen.push_back(static_cast<std::int64_t>(one.data[i][0].item<double>()));
      }
    }
    return seen;
  };
  for (const std::uint64_t epoch : {0U, 1U, 5U}) {
    sampler.set_epoch(epoch);
    EXPECT_EQ(pass(), reference.indices(epoch)) << epoch;
  }
  sampler.set_epoch(2, 3);
  const std::vector<std::int64_t> all = reference.indices(2);
  EXPECT_EQ(pass(), std::vector<std::int64_t>(all.begin() + 3, all.end()));
  EXPECT_EQ(pass(), all) << "the pass after it is whole";
  EXPECT_THROW(sampler.set_epoch(0, sampler.size() + 1), Error);
}

}  // namespace
}  // namespace hpcboot
