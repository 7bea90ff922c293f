// checkpoint() in models on several ranks, beside the same models without it.
#include "hpcboot/torch/activation_checkpoint.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "torch/sharded_pair.hpp"
#include "torch/thrown.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;

enum class Where { nowhere, in_units, around_units, around_two };

/// A Transformer of four layers.
struct Stack : torch::nn::Module {
  struct TwoLayers : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return second->forward(first->forward(x)); }
    std::shared_ptr<ShardUnitOf<LayerImpl>> first, second;
  };

  explicit Stack(Where place)
      : where(place), embedding(register_module("embedding", torch::nn::Embedding(20, 32))) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string name = "layer" + std::to_string(i);
      if (where == Where::in_units) {
        inside.push_back(register_module(name, shard_unit(checkpointed(Layer(32, 4)))));
      } else {
        units.push_back(register_module(name, shard_unit(Layer(32, 4))));
      }
    }
    head = register_module("head", torch::nn::Linear(32, 20));
    for (std::size_t i = 0; where == Where::around_two && i < 4; i += 2) {
      pairs.push_back(std::make_shared<TwoLayers>());
      pairs.back()->first = pairs.back()->register_module("first", units[i]);
      pairs.back()->second = pairs.back()->register_module("second", units[i + 1]);
    }
  }

  torch::Tensor forward(torch::Tensor text) {
    torch::Tensor x = embedding->forward(text);
    if (where == Where::around_two) {
      for (const auto& two : pairs) x = checkpoint(two, x);
    } else if (where == Where::in_units) {
      for (const auto& unit : inside) x = unit->forward(x);
    } else {
      for (const auto& unit : units) {
        x = where == Where::around_units ? checkpoint(unit, x) : unit->forward(x);
      }
    }
    return head->forward(x);
  }

  const Where where;
  torch::nn::Embedding embedding;
  std::vector<std::shared_ptr<ShardUnitOf<LayerImpl>>> units;
  std::vector<std::shared_ptr<ShardUnitOf<Checkpointed<LayerImpl>>>> inside;
  std::vector<std::shared_ptr<TwoLayers>> pairs;
  torch::nn::Linear head{nullptr};
};

std::shared_ptr<Stack> make_stack(Where where) {
  torch::manual_seed(3);
  return here(std::make_shared<Stack>(where));
}

struct Case {
  std::string name;
  Where where;
  bool reshards;
};

class CheckpointedUnits : public testing::TestWithParam<Case> {};

TEST_P(CheckpointedUnits, TrainAsDdpDoesWithout) {
  FullyShardOptions options;
  options.reshard_after_forward = GetParam().reshards;
  Pair<Stack> pair([] { return make_stack(Where::nowhere); }, loss_of_text_at, options,
                   [] { return make_stack(GetParam().where); });
  pair.train(6);
  {
    const auto ddp = pair.ddp.no_sync();
    const auto sharded = pair.model->no_sync();
    pair.ddp.module()->zero_grad(/*set_to_none=*/true);
    pair.model->zero_grad(/*set_to_none=*/true);
    pair.loss_of_ddp(6).backward();
    pair.loss_of_model(6).backward();
  }
  pair.loss_of_ddp(7).backward();
  pair.loss_of_model(7).backward();
  pair.whole->step();
  pair.sharded->step();
  pair.expect_equal();
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointedUnits,
                         testing::Values(Case{"Zero3Inside", Where::in_units, true},
                                         Case{"Zero2Inside", Where::in_units, false},
                                         Case{"Zero3Around", Where::around_units, true},
                                         Case{"Zero2Around", Where::around_units, false},
                                         Case{"Zero3AroundTwo", Where::around_two, true},
                                         Case{"Zero2AroundTwo", Where::around_two, false}),
                         [](const auto& one) { return one.param.name; });

TEST(ActivationCheckpoint, RefusesTheOutermostUnit) {
  const auto model = fully_shard(make_stack(Where::nowhere), *world);
  EXPECT_THAT(error_of([&] { checkpoint(model, text_of(0)); }).what(),
              HasSubstr("checkpoint() of the module that fully_shard() returned"));
}

class CheckpointedDdp : public testing::TestWithParam<int> {};

TEST_P(CheckpointedDdp, TrainsAsWithout) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = GetParam() == 1;
  options.static_graph = GetParam() == 2;
  DistributedDataParallel plain(make_stack(Where::nowhere), *world, options);
  DistributedDataParallel saving(make_stack(Where::around_two), *world, options);
  const auto first = adam({optim::OptimizerParamGroup(plain.module()->parameters())});
  const auto second = adam({optim::OptimizerParamGroup(saving.module()->parameters())});
  for (int step = 0; step < 4; ++step) {
    for (auto* one : {&plain, &saving}) {
      one->module()->zero_grad(/*set_to_none=*/true);
      loss_of_text_at([&](const torch::Tensor& text) { return one->forward(text); }, step)
          .backward();
    }
    first->step();
    second->step();
  }
  const auto expected = plain.module()->parameters();
  const auto found = saving.module()->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (world->world_size() <= 2) {
      EXPECT_TRUE(found[i].equal(expected[i])) << i;
    } else {  // c10d may have assigned other buckets
      EXPECT_LE((found[i] - expected[i]).abs().max().item<double>(), 1e-6) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, CheckpointedDdp, testing::Values(0, 1, 2), [](const auto& one) {
  return std::string(one.param == 0 ? "Default" : one.param == 1 ? "FindUnused" : "StaticGraph");
});

/// Its second layer is not used.
struct HalfUsed : torch::nn::Module {
  struct Inner : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return used->forward(x); }
    torch::nn::Linear used = register_module("used", torch::nn::Linear(4, 4));
    torch::nn::Linear unused = register_module("unused", torch::nn::Linear(4, 4));
  };
  torch::Tensor forward(torch::Tensor x) { return checkpoint(inner, x); }
  std::shared_ptr<Inner> inner = register_module("inner", std::make_shared<Inner>());
};

TEST(ActivationCheckpoint, LeavesParametersThatAreNotUsedToDdpWithoutGradient) {
  DistributedDataParallel ddp(here(std::make_shared<HalfUsed>()), *world);
  for (int step = 0; step < 2; ++step) ddp.forward(here(torch::ones({2, 4}))).sum().backward();
  const auto& inner = *ddp.module()->inner;
  EXPECT_TRUE(inner.used->weight.grad().defined());
  const torch::Tensor unused = inner.unused->weight.grad();
  EXPECT_TRUE(!unused.defined() || unused.count_nonzero().item<std::int64_t>() == 0);
}

TEST(ActivationCheckpoint, LetsUnitsNameParametersThatAreNotUsed) {
  const auto model = fully_shard(here(std::make_shared<HalfUsed>()), *world);
  EXPECT_THAT(error_of([&] {
                model->forward(here(torch::ones({2, 4}))).sum().backward();
              }).what(),
              HasSubstr("no gradient of inner.unused.weight, inner.unused.bias"));
}

/// One layer in several segments.
struct Shared : torch::nn::Module {
  explicit Shared(bool on) : saves(on) {}
  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; i < 3; ++i) x = (saves ? checkpoint(layer, x) : layer->forward(x)).tanh();
    return x;
  }
  bool saves;
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(4, 4));
};

TEST(ActivationCheckpoint, TakesALayerInSeveralSegmentsOfDdp) {
  const auto gradient = [](bool saves) {
    torch::manual_seed(1);
    DistributedDataParallel ddp(here(std::make_shared<Shared>(saves)), *world);
    ddp.forward(here(torch::randn({2, 4}))).sum().backward();
    return ddp.module()->layer->weight.grad();
  };
  EXPECT_TRUE(gradient(true).equal(gradient(false)));
}

}  // namespace
}  // namespace hpcboot
