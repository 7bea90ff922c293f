// Models whose parameters are divided among the ranks, beside DistributedDataParallel.
#include "hpcboot/torch/fully_shard.hpp"

#include <gmock/gmock.h>
#include <torch/optim.h>
// Must come last: clip_grad.h does not include what it uses.
#include <torch/nn/utils/clip_grad.h>

#include <functional>
#include <memory>
#include <string>

#include "torch/optimizer_key.hpp"
#include "torch/optimizer_state.hpp"
#include "torch/sharded_pair.hpp"
#include "torch/small_net.hpp"
#include "torch/thrown.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;

torch::Tensor loss_of_digits(const std::function<torch::Tensor(torch::Tensor)>& model, int step) {
  const Data mine = make_data(100 * world->world_size()).part(100 * world->rank() + 4 * step, 4);
  return loss_of(model(mine.images), mine.labels);
}

struct Case {
  const char* name;
  FullyShardOptions options;
};

std::vector<Case> cases() {
  FullyShardOptions zero2, plain, offloaded;
  zero2.reshard_after_forward = false;
  plain.prefetch = false;
  offloaded.offload_to_host = true;
  return {{"Zero3", {}},
          {"Zero2", zero2},
          {"WithoutPrefetch", plain},
          {"OffloadedToTheHost", offloaded}};
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

TEST_P(FullyShardWith, ValidatesWithDifferentNumbersOfBatches) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at, GetParam().options);
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

TEST_P(FullyShardWith, AccumulatesGradients) {
  for (const bool syncs : {false, true}) {
    Pair<Transformer> pair(make_transformer, loss_of_text_at, GetParam().options);
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
      pair.step_whole();
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

TEST_P(FullyShardWith, ClipsTheNormOfAllGradients) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at, GetParam().options);
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

TEST_P(FullyShardWith, CollectsParametersAndStateForACheckpoint) {
  Pair<Transformer> pair(make_transformer, loss_of_text_at, GetParam().options);
  pair.train(3);
  const int root = world->world_size() - 1;
  auto parameters = pair.model->gather_parameters(root);
  pair.sharded->gather_state(root);
  EXPECT_EQ(parameters.is_empty(), world->rank() != root);
  // A new model continues from it: all ranks get what the root has.
  Pair<Transformer> next(make_transformer, loss_of_text_at, GetParam().options);
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
    pair.step_whole();
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

}  // namespace
}  // namespace hpcboot
