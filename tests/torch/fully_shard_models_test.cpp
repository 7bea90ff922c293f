// Kinds of models whose parameters can be divided among the ranks, and what is refused.
#include <gmock/gmock.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/serialize/output-archive.h>

#include <memory>

#include "torch/sharded_pair.hpp"
#include "torch/small_net.hpp"
#include "torch/thrown.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;

/// Two layers, of which forward uses one twice.
struct Repeating : torch::nn::Module {
  Repeating()
      : first(register_module("first", shard_unit(torch::nn::Linear(6, 6)))),
        second(register_module("second", shard_unit(torch::nn::Linear(6, 6)))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = first->forward(x).relu();
    x = second->forward(x).relu_();
    return first->forward(x).pow(2).mean();
  }
  std::shared_ptr<ShardUnitOf<torch::nn::LinearImpl>> first, second;
};

TEST(FullyShard, TakesAUnitThatRunsTwice) {
  Pair<Repeating> pair(
      [] {
        torch::manual_seed(1);
        return std::make_shared<Repeating>();
      },
      [](const auto& forward, int step) {
        seed(step);
        return forward(here(torch::randn({5, 6})));
      });
  pair.train(5);
  pair.expect_equal();
}

/// A frozen layer with a trained one beside it, as for low-rank adaptation.
struct AdaptedImpl : torch::nn::Module {
  AdaptedImpl()
      : base(register_module("base", torch::nn::Linear(6, 6))),
        change(register_module("change", torch::nn::Linear(6, 6))) {
    for (torch::Tensor& parameter : base->parameters()) parameter.set_requires_grad(false);
  }
  torch::Tensor forward(torch::Tensor x) { return base->forward(x) + change->forward(x); }
  torch::nn::Linear base, change;
};
TORCH_MODULE(Adapted);

struct AdaptedNet : torch::nn::Module {
  AdaptedNet() {
    register_module("layers", layers);
    for (int i = 0; i < 3; ++i) layers->push_back(shard_unit(Adapted()));
  }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x).pow(2).mean(); }
  torch::nn::Sequential layers;
};

TEST(FullyShard, TakesFrozenParameters) {
  Pair<AdaptedNet> pair(
      [] {
        torch::manual_seed(1);
        return std::make_shared<AdaptedNet>();
      },
      [](const auto& forward, int step) {
        seed(step);
        return forward(here(torch::randn({5, 6})));
      });
  // An input that needs a gradient: the frozen weights are in use until it has one.
  torch::Tensor input = here(torch::randn({2, 6})).set_requires_grad(true);
  pair.model->forward(input).backward();
  EXPECT_TRUE(input.grad().defined());
  pair.model->zero_grad(true);
  pair.train(5);
  pair.expect_equal();
  for (const torch::Tensor& parameter : pair.model->parameters()) EXPECT_EQ(parameter.numel(), 0);
}

TEST(FullyShard, GoesAroundModulesThatAreSharded) {
  torch::manual_seed(1);
  torch::nn::Sequential plain;
  for (int i = 0; i < 2; ++i) plain->push_back(Layer(8, 4));
  torch::manual_seed(1);
  FullyShardOptions keeps;
  keeps.reshard_after_forward = false;
  const auto first = fully_shard(here(Layer(8, 4)), *world, keeps);
  const auto model = fully_shard(here(torch::nn::Sequential(first, Layer(8, 4))), *world);
  EXPECT_THAT(error_of([&] { first->shards(); }).what(), HasSubstr("a part of a module"));
  DistributedDataParallel ddp(here(plain), *world);
  const torch::Tensor x = here(torch::randn({2, 3, 8}));
  ddp.forward(x).sum().backward();
  model->forward(x).sum().backward();
  EXPECT_NEAR(model->clip_grad_norm(1e9),
              torch::nn::utils::clip_grad_norm_(ddp.module()->parameters(), 1e9), 1e-3);
}

TEST(FullyShard, SynchronizesBuffersAsDdpDoes) {
  const auto make = [] {
    torch::manual_seed(1);
    return torch::nn::Sequential(torch::nn::Linear(6, 6), torch::nn::BatchNorm1d(6)).ptr();
  };
  DistributedDataParallel ddp(here(make()), *world);
  const auto model = fully_shard(here(make()), *world);
  for (int step = 0; step < 3; ++step) {
    seed(step);
    const torch::Tensor x = here(torch::randn({5, 6}));
    ddp.forward(x).sum().backward();
    model->forward(x).sum().backward();
  }
  for (std::size_t i = 0; i < model->buffers().size(); ++i) {
    EXPECT_TRUE(model->buffers()[i].equal(ddp.module()->buffers()[i])) << i;
  }
}

/// Of its two parts, forward uses those that it is told to.
struct Choosing : torch::nn::Module {
  Choosing()
      : a(register_module("a", torch::nn::Linear(4, 4))),
        b(register_module("b", torch::nn::Linear(4, 4))) {}
  torch::Tensor forward(torch::Tensor x, bool uses_b) {
    return (uses_b ? b->forward(a->forward(x)) : a->forward(x)).sum();
  }
  torch::nn::Linear a, b;
};

TEST(FullyShard, NamesParametersOfAUnitThatGotNoGradient) {
  const auto model = fully_shard(here(std::make_shared<Choosing>()), *world);
  const torch::Tensor x = here(torch::ones({2, 4}));
  EXPECT_THAT(error_of([&] { model->forward(x, false).backward(); }).what(),
              HasSubstr("no gradient of b.weight, b.bias, although others of the same unit"));
  EXPECT_THAT(error_of([&] { model->forward(x, true); }).what(),
              HasSubstr("ended with an exception"));
}

TEST(FullyShard, RefusesWhatItCannotTrain) {
  const auto model = fully_shard(here(torch::nn::Linear(4, 4)), *world);
  const torch::Tensor x = here(torch::ones({2, 4}));
  EXPECT_THAT(
      error_of([&] { model->forward(x).pow(2).sum().backward({}, c10::nullopt, true); }).what(),
      HasSubstr("create_graph"));
  EXPECT_THAT(error_of([&] { model->forward(x); }).what(), HasSubstr("ended with an exception"));
  const auto moved = fully_shard(here(torch::nn::Linear(4, 4)), *world);
  moved->to(at::kDouble);
  EXPECT_THAT(error_of([&] { moved->forward(x.to(at::kDouble)); }).what(),
              HasSubstr("parameter 'weight', which was moved, converted"));
  torch::serialize::OutputArchive archive;
  EXPECT_THAT(error_of([&] { model->save(archive); }).what(), HasSubstr("gather_parameters()"));
  EXPECT_THAT(error_of([&] {
                model->scatter_parameters(torch::OrderedDict<std::string, torch::Tensor>());
              }).what(),
              HasSubstr("no parameter 'weight'"));
  const ShardedOptimizer::Groups other{optim::OptimizerParamGroup({x})};
  EXPECT_THAT(error_of([&] { ShardedOptimizer(other, *model, adam); }).what(),
              HasSubstr("parameters that fully_shard() has not divided"));
}

struct Sharing : torch::nn::Module {
  Sharing() {
    const torch::nn::Linear layer(4, 4);
    register_module("a", shard_unit(torch::nn::Sequential(layer)));
    register_module("b", shard_unit(torch::nn::Sequential(layer)));
  }
  torch::Tensor forward(torch::Tensor x) { return x; }
};

TEST(FullyShard, RefusesAParameterOfTwoUnits) {
  EXPECT_THAT(error_of([&] { fully_shard(here(std::make_shared<Sharing>()), *world); }).what(),
              HasSubstr("parameter 'b.0.weight', which another unit, a.*, shares"));
}

TEST(FullyShard, RefusesModelsThatDiffer) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_THAT(
      error_of([&] { fully_shard(here(torch::nn::Linear(4, 4 + world->rank())), *world); }).what(),
      HasSubstr("rank 1 has parameter 'weight'"));
  FullyShardOptions options;
  options.prefetch = world->rank() == 0;
  EXPECT_THAT(error_of([&] { fully_shard(here(torch::nn::Linear(4, 4)), *world, options); }).what(),
              HasSubstr("option prefetch = false, but rank 0 has option prefetch = true"));
}

}  // namespace
}  // namespace hpcboot
