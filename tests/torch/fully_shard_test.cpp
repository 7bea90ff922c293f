// Models whose parameters are divided among the ranks, beside DistributedDataParallel.
#include "hpcboot/torch/fully_shard.hpp"

#include <gmock/gmock.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/optim.h>
#include <torch/serialize/output-archive.h>
// Must come last: clip_grad.h does not include what it uses.
#include <torch/nn/utils/clip_grad.h>

#include <functional>
#include <memory>
#include <string>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "torch/optimizer_key.hpp"
#include "torch/optimizer_state.hpp"
#include "torch/small_net.hpp"
#include "torch/thrown.hpp"
#include "torch/transformer.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;
namespace optim = torch::optim;

std::unique_ptr<optim::Optimizer> adam(const ShardedOptimizer::Groups& groups) {
  return std::make_unique<optim::Adam>(groups, optim::AdamOptions(1e-3));
}

std::shared_ptr<Transformer> make_transformer() {
  torch::manual_seed(3);
  return here(std::make_shared<Transformer>(32, 3, 20));
}

/// Another one on each rank, and in each step.
void seed(int step) {
  torch::manual_seed(static_cast<std::uint64_t>(1000 * step + world->rank()));
}

torch::Tensor text_of(int step) {
  seed(step);
  return here(torch::randint(20, {4, 12}, torch::kLong));
}

/// A model with DistributedDataParallel, and the same one divided.
template <typename Module>
struct Pair {
  using Pointer = std::shared_ptr<Module>;
  using Make = std::function<Pointer()>;
  using Loss =
      std::function<torch::Tensor(const std::function<torch::Tensor(torch::Tensor)>&, int)>;

  Pair(const Make& make, Loss of_step, const FullyShardOptions& options = {})
      : ddp(here(make()), *world),
        whole(adam({optim::OptimizerParamGroup(ddp.module()->parameters())})),
        model(fully_shard(here(make()), *world, options)),
        sharded(std::make_unique<ShardedOptimizer>(*model, adam)),
        loss(std::move(of_step)) {}

  torch::Tensor loss_of_ddp(int step) {
    return loss([&](const torch::Tensor& x) { return ddp.forward(x); }, step);
  }
  torch::Tensor loss_of_model(int step) {
    return loss([&](const torch::Tensor& x) { return model->forward(x); }, step);
  }

  void step(int number) {
    ddp.module()->zero_grad(/*set_to_none=*/true);
    loss_of_ddp(number).backward();
    whole->step();
    if (number % 2 == 0) {
      model->zero_grad(/*set_to_none=*/true);
    } else {
      sharded->zero_grad();
    }
    loss_of_model(number).backward();
    sharded->step();
  }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) step(i);
  }

  /// On 2 ranks, sums do not depend on their order.
  void expect_equal(double tolerance = 1e-6) {
    const auto found = model->gather_parameters();
    if (world->rank() != 0) return;
    for (const auto& item : ddp.module()->named_parameters()) {
      const torch::Tensor other = here(found[item.key()]);
      ASSERT_EQ(other.sizes(), item.value().sizes()) << item.key();
      if (world->world_size() <= 2) {
        EXPECT_TRUE(other.equal(item.value())) << item.key();
      } else {
        EXPECT_LE((other - item.value()).abs().max().template item<double>(), tolerance)
            << item.key();
      }
    }
  }

  DistributedDataParallel<Pointer> ddp;
  std::unique_ptr<optim::Optimizer> whole;
  std::shared_ptr<ShardUnitOf<Module>> model;
  std::unique_ptr<ShardedOptimizer> sharded;
  Loss loss;
};

torch::Tensor loss_of_text_at(const std::function<torch::Tensor(torch::Tensor)>& model, int step) {
  const torch::Tensor text = text_of(step);
  return loss_of_text(model(text), text);
}

torch::Tensor loss_of_digits(const std::function<torch::Tensor(torch::Tensor)>& model, int step) {
  const Data mine = make_data(100 * world->world_size()).part(100 * world->rank() + 4 * step, 4);
  return loss_of(model(mine.images), mine.labels);
}

struct Case {
  const char* name;
  FullyShardOptions options;
};

std::vector<Case> cases() {
  FullyShardOptions zero2, plain;
  zero2.reshard_after_forward = false;
  plain.prefetch = false;
  return {{"Zero3", {}}, {"Zero2", zero2}, {"WithoutPrefetch", plain}};
}

class FullyShardWith : public testing::TestWithParam<Case> {};

TEST_P(FullyShardWith, TrainsATransformerAsDdpDoes) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at, GetParam().options);
  pair.train(20);
  pair.expect_equal();
}

TEST_P(FullyShardWith, TrainsMnistnetAsDdpDoes) {
  Pair<models::Model> pair(make_net, loss_of_digits, GetParam().options);
  pair.train(20);
  pair.expect_equal(1e-5);  // Adam divides small gradients by their own size, rounding included
}

INSTANTIATE_TEST_SUITE_P(All, FullyShardWith, testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

std::shared_ptr<models::Model> make_resnet(torch::ScalarType type) {
  torch::manual_seed(5);
  auto model = models::make_model("resnet50");
  model->to(type);
  return here(model);
}

torch::Tensor loss_of_images(const std::function<torch::Tensor(torch::Tensor)>& model, int step,
                             torch::ScalarType type) {
  seed(step);
  const torch::Tensor images = here(torch::randn({4, 1, 64, 64})).to(type);
  return loss_of(model(images), here(torch::randint(10, {4}, torch::kLong)));
}

TEST(FullyShard, TrainsResNet50InDoublePrecisionAsDdpDoes) {
  Pair<models::Model> pair(
      [] { return make_resnet(torch::kDouble); },
      [](const auto& model, int step) { return loss_of_images(model, step, torch::kDouble); });
  pair.train(2);
  pair.expect_equal(1e-9);
}

TEST(FullyShard, ComputesGradientsOfResNet50AsDdpDoes) {
  const auto loss = [](const auto& model, int step) {
    return loss_of_images(model, step, torch::kFloat);
  };
  Pair<models::Model> pair([] { return make_resnet(torch::kFloat); }, loss);
  // A step of size 1 from zero: the parameters become the negative gradients.
  const auto sgd = [](const ShardedOptimizer::Groups& groups) {
    return std::make_unique<optim::SGD>(groups, optim::SGDOptions(1));
  };
  ShardedOptimizer sharded(*pair.model, sgd);
  pair.loss_of_ddp(0).backward();
  pair.loss_of_model(0).backward();
  for (torch::Tensor shard : pair.model->shards()) {
    const torch::NoGradGuard no_grad;
    shard.zero_();
  }
  sharded.step();
  const auto after = pair.model->gather_parameters();
  for (const auto& item : after) {
    const torch::Tensor expected = pair.ddp.module()->named_parameters()[item.key()].grad();
    const double error = (here(item.value()) + expected).norm().item<double>();
    EXPECT_LE(error, 1e-5 * expected.norm().item<double>()) << item.key();
  }
}

TEST(FullyShard, KeepsNamesAndFreesParameters) {
  const auto plain = make_transformer();
  const auto model = fully_shard(make_transformer(), *world);
  EXPECT_EQ(plain->named_parameters().keys(), model->named_parameters().keys());
  EXPECT_EQ(plain->named_parameters().keys(), model->module()->named_parameters().keys());
  EXPECT_THAT(plain->named_parameters().keys(), testing::Contains("body.0.norm1.weight"));
  for (const torch::Tensor& parameter : model->parameters()) EXPECT_EQ(parameter.numel(), 0);
  const auto whole = model->keep_whole();
  const auto expected = plain->named_parameters();
  for (const auto& item : model->named_parameters()) {
    EXPECT_TRUE(item.value().equal(expected[item.key()])) << item.key();
  }
}

TEST(FullyShard, DoesNothingToAModelThatIsNotSharded) {
  const auto model = make_transformer();
  loss_of_text_at([&](const torch::Tensor& x) { return model->forward(x); }, 0).backward();
  for (const torch::Tensor& parameter : model->parameters())
    EXPECT_TRUE(parameter.grad().defined());
  EXPECT_THAT(error_of([&] { shard_unit(Layer(8, 4))->shards(); }).what(),
              HasSubstr("a module that is not sharded"));
}

TEST(FullyShard, SetsParametersToThoseOfRank0) {
  const auto model = fully_shard(
      [] {
        seed(0);
        return here(std::make_shared<Transformer>(32, 1, 20));
      }(),
      *world);
  const auto whole = model->keep_whole();
  for (const torch::Tensor& parameter : model->parameters()) {
    EXPECT_TRUE(same_on_all_ranks(parameter.detach()));
  }
}

TEST(FullyShard, ValidatesWithDifferentNumbersOfBatches) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at);
  pair.step(0);
  {
    const torch::NoGradGuard no_grad;
    pair.model->eval();
    EXPECT_FALSE(pair.model->module()->is_training());
    const auto whole = pair.model->keep_whole();
    for (int i = 0; i <= world->rank(); ++i) pair.loss_of_model(i);
    pair.model->train();
  }
  pair.train(3);
  pair.expect_equal();
}

TEST(FullyShard, AccumulatesGradients) {
  for (const bool syncs : {false, true}) {
    Pair<Transformer> pair(make_transformer, loss_of_text_at);
    for (int step = 0; step < 3; ++step) {
      pair.ddp.module()->zero_grad(true);
      pair.model->zero_grad(true);
      {
        const auto ddp = pair.ddp.no_sync();
        pair.loss_of_ddp(10 * step).backward();
        pair.loss_of_ddp(10 * step + 1).backward();
      }
      pair.loss_of_ddp(10 * step + 2).backward();
      const auto first = [&] {
        pair.loss_of_model(10 * step).backward();
        pair.loss_of_model(10 * step + 1).backward();
      };
      if (syncs) {
        first();
      } else {
        const auto guard = pair.model->no_sync();
        first();
      }
      pair.loss_of_model(10 * step + 2).backward();
      pair.whole->step();
      pair.sharded->step();
    }
    if (!syncs) pair.expect_equal();
    const auto found = pair.model->gather_parameters();
    for (const auto& item : found) {
      const torch::Tensor expected = pair.ddp.module()->named_parameters()[item.key()];
      EXPECT_TRUE(here(item.value()).allclose(expected, 1e-3, 1e-4)) << item.key();
    }
  }
}

TEST(FullyShard, ClipsTheNormOfAllGradients) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at);
  pair.loss_of_ddp(0).backward();
  pair.loss_of_model(0).backward();
  const double expected = torch::nn::utils::clip_grad_norm_(pair.ddp.module()->parameters(), 0.1);
  ASSERT_GT(expected, 0.1);
  EXPECT_NEAR(pair.model->clip_grad_norm(0.1), expected, 1e-5 * expected);
  EXPECT_NEAR(pair.model->clip_grad_norm(0.1), 0.1, 1e-5);  // now that of the clipped ones
  EXPECT_NEAR(pair.model->clip_grad_norm(100), 0.1, 1e-5);
}

TEST(FullyShard, ComputesInAnotherType) {
  FullyShardOptions options;
  options.compute_type = at::kBFloat16;
  options.reduce_type = at::kFloat;
  Pair<Transformer> pair(make_transformer, loss_of_text_at, options);
  pair.train(10);
  for (const torch::Tensor& shard : pair.model->shards()) {
    EXPECT_EQ(shard.scalar_type(), at::kFloat);
    EXPECT_EQ(shard.grad().scalar_type(), at::kFloat);
  }
  {
    const auto whole = pair.model->keep_whole();
    for (const torch::Tensor& parameter : pair.model->parameters()) {
      EXPECT_EQ(parameter.scalar_type(), at::kBFloat16);
    }
  }
  const double reference = pair.loss_of_ddp(50).item<double>();
  EXPECT_NEAR(pair.loss_of_model(50).item<double>(), reference, 0.02 * reference);
}

TEST(FullyShard, CollectsParametersAndStateForACheckpoint) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at);
  pair.train(3);
  const int root = world->world_size() - 1;
  auto parameters = pair.model->gather_parameters(root);
  pair.sharded->gather_state(root);
  EXPECT_EQ(parameters.is_empty(), world->rank() != root);
  // A new model continues from it: all ranks get what the root has.
  Pair<Transformer> next(make_transformer, loss_of_text_at);
  next.train(1);
  torch::OrderedDict<std::string, torch::Tensor> given;
  const auto names = pair.model->named_parameters();
  const auto whole = pair.model->keep_whole();
  for (const auto& item : names) {
    torch::Tensor value = world->rank() == root ? here(parameters[item.key()].clone())
                                                : torch::empty_like(item.value().detach());
    given.insert(item.key(), broadcast(*world, value, root).wait());
  }
  next.model->scatter_parameters(given);
  auto& to = next.sharded->state();
  auto& from = pair.sharded->state();
  const auto others = next.model->named_parameters();
  for (const auto& item : names) {
    auto state = std::make_unique<optim::AdamParamState>();
    const auto found = from.find(key_of(from, item.value()));
    if (world->rank() == root) {
      ASSERT_NE(found, from.end());
      state = std::make_unique<optim::AdamParamState>(
          static_cast<optim::AdamParamState&>(*found->second));
    } else {
      state->exp_avg(torch::empty_like(item.value().detach()));
      state->exp_avg_sq(torch::empty_like(item.value().detach()));
    }
    state->step(3);
    state->exp_avg(here(state->exp_avg()));
    state->exp_avg_sq(here(state->exp_avg_sq()));
    broadcast(*world, state->exp_avg(), root).wait();
    broadcast(*world, state->exp_avg_sq(), root).wait();
    to[key_of(to, others[item.key()])] = std::move(state);
  }
  next.sharded->scatter_state();
  for (int step = 3; step < 6; ++step) {
    next.model->zero_grad(true);
    next.loss_of_model(step).backward();
    next.sharded->step();
    pair.ddp.module()->zero_grad(true);
    pair.loss_of_ddp(step).backward();
    pair.whole->step();
  }
  const auto result = next.model->gather_parameters();
  for (const auto& item : result) {
    const torch::Tensor expected = pair.ddp.module()->named_parameters()[item.key()].detach();
    EXPECT_LE((here(item.value()) - expected).abs().max().item<double>(),
              world->world_size() <= 2 ? 0 : 1e-6)
        << item.key();
  }
}

TEST(FullyShard, StateTakesOnesShare) {
  Pair<Transformer> pair([] { return std::make_shared<Transformer>(64, 3, 100); }, loss_of_text_at);
  pair.train(1);
  double parameters = 0;
  for (const torch::Tensor& parameter : pair.ddp.module()->parameters()) {
    parameters += static_cast<double>(parameter.nbytes());
  }
  const double share = parameters / world->world_size();
  EXPECT_NEAR(static_cast<double>(pair.model->shard_bytes()), share, 0.05 * share);
  if (world->world_size() <= 2) {
    EXPECT_NEAR(static_cast<double>(pair.sharded->state_bytes()), 2 * share, 0.1 * share);
  }
}

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
