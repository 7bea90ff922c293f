// An optimizer whose state is divided among the ranks, beside one that is not.
#include "hpcboot/torch/sharded_optimizer.hpp"

#include <gmock/gmock.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim.h>
#include <torch/types.h>

#include <functional>
#include <ostream>
#include <string>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "torch/optimizer_key.hpp"
#include "torch/optimizer_state.hpp"
#include "torch/small_net.hpp"
#include "torch/thrown.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

namespace optim = torch::optim;
using Ddp = DistributedDataParallel<std::shared_ptr<models::Model>>;
using Make = ShardedOptimizer::Make;

template <typename Optimizer, typename Options>
Make make(const Options& options) {
  return [options](const ShardedOptimizer::Groups& groups) {
    return std::make_unique<Optimizer>(groups, options);
  };
}

Make make_adam() {
  return make<optim::Adam>(optim::AdamOptions(1e-2));
}

struct Kind {
  const char* name;
  Make make;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name;
}

std::vector<Kind> kinds() {
  return {
      {"Adam", make_adam()},
      {"AdamWithAmsgrad",
       make<optim::Adam>(optim::AdamOptions(1e-2).amsgrad(true).weight_decay(0.1))},
      {"AdamW", make<optim::AdamW>(optim::AdamWOptions(1e-2))},
      {"Sgd", make<optim::SGD>(optim::SGDOptions(1e-2))},
      {"SgdWithMomentum", make<optim::SGD>(optim::SGDOptions(1e-2).momentum(0.9).nesterov(true))},
      {"Adagrad", make<optim::Adagrad>(optim::AdagradOptions(1e-2))},
      {"RMSprop", make<optim::RMSprop>(optim::RMSpropOptions(1e-3).centered(true).momentum(0.9))}};
}

/// A model on all ranks, with an optimizer.
struct Training {
  explicit Training(const std::shared_ptr<models::Model>& net = make_net()) : ddp(net, *world) {}

  std::vector<torch::Tensor> parameters() { return ddp.module()->parameters(); }

  void use(const Make& make) { optimizer = make({optim::OptimizerParamGroup(parameters())}); }
  void shard(const Make& make) { shard_groups({optim::OptimizerParamGroup(parameters())}, make); }
  void shard_groups(const ShardedOptimizer::Groups& groups, const Make& make) {
    auto made = std::make_unique<ShardedOptimizer>(groups, *world, make);
    sharded = made.get();
    optimizer = std::move(made);
  }

  void step(int number) {
    optimizer->zero_grad();
    for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
    const Data mine = make_data(40 * world->world_size()).part(40 * world->rank() + 4 * number, 4);
    loss_of(ddp.forward(mine.images), mine.labels).backward();
    optimizer->step();
  }

  Ddp ddp;
  std::unique_ptr<optim::Optimizer> optimizer;
  ShardedOptimizer* sharded = nullptr;
};

void expect_equal(Training& found, Training& expected) {
  const auto parameters = expected.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(found.parameters()[i].equal(parameters[i])) << "parameter " << i;
    EXPECT_TRUE(same_on_all_ranks(found.parameters()[i].detach()));
  }
}

class Sharded : public testing::TestWithParam<Kind> {};

TEST_P(Sharded, OptimizerChangesParametersAsTheWholeOneDoes) {
  Training whole, sharded;
  whole.use(GetParam().make);
  sharded.shard(GetParam().make);
  for (int step = 0; step < 10; ++step) {
    whole.step(step);
    sharded.step(step);
  }
  expect_equal(sharded, whole);
}

std::int64_t bytes_of_state(optim::Optimizer& optimizer) {
  std::int64_t bytes = 0;
  for (auto& [key, state] : optimizer.state()) {
    const auto fields = fields_of(*state);
    for (const torch::Tensor* tensor : fields->tensors) {
      if (tensor->defined()) bytes += static_cast<std::int64_t>(tensor->nbytes());
    }
  }
  return bytes;
}

TEST_P(Sharded, StateTakesOnesShare) {
  Training whole, sharded;
  whole.use(GetParam().make);
  sharded.shard(GetParam().make);
  whole.step(0);
  sharded.step(0);
  const auto all = static_cast<double>(bytes_of_state(*whole.optimizer));
  const double share = all / world->world_size();
  EXPECT_NEAR(static_cast<double>(sharded.sharded->state_bytes()), share, 0.05 * share);
}

void expect_same_state(optim::Optimizer& found, Training& of, Training& whole) {
  auto& states = found.state();
  auto& expected = whole.optimizer->state();
  EXPECT_EQ(states.size(), expected.size());
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    const auto one = states.find(key_of(states, of.parameters()[i]));
    const auto other = expected.find(key_of(expected, whole.parameters()[i]));
    ASSERT_EQ(one == states.end(), other == expected.end()) << i;
    if (one == states.end()) continue;
    const auto fields = fields_of(*one->second);
    const auto wanted = fields_of(*other->second);
    if (wanted->steps != nullptr) {
      EXPECT_EQ(*fields->steps, *wanted->steps);
    }
    for (std::size_t field = 0; field < wanted->tensors.size(); ++field) {
      ASSERT_EQ(fields->tensors[field]->defined(), wanted->tensors[field]->defined());
      if (!wanted->tensors[field]->defined()) continue;
      EXPECT_TRUE(same_values(*fields->tensors[field], *wanted->tensors[field]))
          << i << " " << field;
    }
  }
}

TEST_P(Sharded, StateIsCollectedAsThatOfTheWholeOne) {
  Training whole, sharded;
  whole.use(GetParam().make);
  sharded.shard(GetParam().make);
  for (int step = 0; step < 3; ++step) {
    whole.step(step);
    sharded.step(step);
  }
  const int root = world->world_size() - 1;
  sharded.sharded->gather_state(root);
  if (world->rank() == root) expect_same_state(*sharded.sharded, sharded, whole);
  EXPECT_TRUE(world->rank() == root || sharded.sharded->state().empty());
  sharded.sharded->release_state();
  EXPECT_TRUE(sharded.sharded->state().empty());
}

TEST_P(Sharded, TrainingContinuesFromTheStateOfTheWholeOne) {
  Training whole;
  whole.use(GetParam().make);
  for (int step = 0; step < 3; ++step) whole.step(step);
  Training sharded;
  sharded.shard(GetParam().make);
  // A state to be replaced. DDP arranges its buckets after the first step.
  for (int step = 8; step < 10; ++step) sharded.step(step);
  {
    const torch::NoGradGuard no_grad;
    auto& states = sharded.sharded->state();
    auto& from = whole.optimizer->state();
    for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
      sharded.parameters()[i].copy_(whole.parameters()[i]);
      const auto found = from.find(key_of(from, whole.parameters()[i]));
      if (found != from.end())
        states[key_of(states, sharded.parameters()[i])] = found->second->clone();
    }
    sharded.sharded->scatter_state();
  }
  for (int step = 3; step < 8; ++step) {
    whole.step(step);
    sharded.step(step);
  }
  expect_equal(sharded, whole);
}

INSTANTIATE_TEST_SUITE_P(All, Sharded, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(ShardedOptimizer, HasGroupsWithTheirOptionsWhichMayChange) {
  const auto groups_of = [](Training& training) {
    ShardedOptimizer::Groups groups;
    for (const torch::Tensor& parameter : training.parameters()) {
      groups.emplace_back(std::vector<torch::Tensor>{parameter});
    }
    groups[1].set_options(std::make_unique<optim::AdamOptions>(
        optim::AdamOptions(1e-1).weight_decay(0.5).amsgrad(true)));
    return groups;
  };
  Training whole, sharded;
  whole.optimizer = make_adam()(groups_of(whole));
  sharded.shard_groups(groups_of(sharded), make_adam());
  for (int step = 0; step < 4; ++step) {
    for (Training* one : {&whole, &sharded}) {
      one->optimizer->param_groups()[2].options().set_lr(0.01 * step);
      one->step(step);
    }
  }
  sharded.sharded->gather_state();
  if (world->rank() == 0) expect_same_state(*sharded.sharded, sharded, whole);
  EXPECT_EQ(sharded.optimizer->param_groups()[0].options().get_lr(), 1e-2);
  EXPECT_EQ(sharded.optimizer->param_groups()[1].options().get_lr(), 1e-1);
  expect_equal(sharded, whole);
}

TEST(ShardedOptimizer, CollectsMomentumThatOneGroupHasOrThatStartsLater) {
  const auto groups_of = [](Training& training) {
    ShardedOptimizer::Groups groups;
    for (const torch::Tensor& parameter : training.parameters()) {
      groups.emplace_back(std::vector<torch::Tensor>{parameter});
    }
    groups[2].set_options(
        std::make_unique<optim::SGDOptions>(optim::SGDOptions(1e-2).momentum(0.9)));
    return groups;
  };
  const Make make_sgd = make<optim::SGD>(optim::SGDOptions(1e-2));
  Training whole, sharded;
  whole.optimizer = make_sgd(groups_of(whole));
  sharded.shard_groups(groups_of(sharded), make_sgd);
  for (int step = 0; step < 4; ++step) {
    for (Training* one : {&whole, &sharded}) {
      auto& options = one->optimizer->param_groups()[3].options();
      if (step == 2) static_cast<optim::SGDOptions&>(options).momentum(0.5);
      one->step(step);
    }
  }
  expect_equal(sharded, whole);
  sharded.sharded->gather_state();
  if (world->rank() == 0) {
    EXPECT_EQ(sharded.sharded->state().size(), 2U);
    expect_same_state(*sharded.sharded, sharded, whole);
  }
}

TEST(ShardedOptimizer, StepIsSeenByAutograd) {
  Training sharded;
  sharded.shard(make_adam());
  const Data data = make_data(4);
  const torch::Tensor loss = loss_of(sharded.ddp.module()->forward(data.images), data.labels);
  sharded.step(0);
  EXPECT_THAT([&] { loss.backward(); },
              testing::ThrowsMessage<c10::Error>(testing::HasSubstr("modified by an inplace")));
}

TEST(ShardedOptimizer, LeavesParametersWithoutAGradientAsTheyAre) {
  Training whole, sharded;
  whole.use(make_adam());
  sharded.shard(make_adam());
  for (int step = 0; step < 4; ++step) {
    for (Training* one : {&whole, &sharded}) {
      one->ddp.module()->zero_grad();
      const Data mine = make_data(40 * world->world_size()).part(4 * world->rank(), 4);
      loss_of(one->ddp.forward(mine.images), mine.labels).backward();
      // Each parameter in every other step: its steps are counted separately.
      for (std::size_t i = 0; i < one->parameters().size(); ++i) {
        if ((i + static_cast<std::size_t>(step)) % 2 == 0)
          one->parameters()[i].mutable_grad().reset();
      }
      one->optimizer->step();
    }
  }
  expect_equal(sharded, whole);
}

TEST(ShardedOptimizer, KeepsShapesStridesTypesAndIdentityOfParameters) {
  std::vector<torch::Tensor> parameters{
      here(torch::rand({4, 3, 2, 2})).to(torch::MemoryFormat::ChannelsLast).set_requires_grad(true),
      here(torch::rand({5, 7}, torch::kFloat64)).set_requires_grad(true),
      here(torch::rand({6, 4})).t().set_requires_grad(true),
      here(torch::rand({})).set_requires_grad(true),
      here(torch::rand({0, 3})).set_requires_grad(true)};
  for (torch::Tensor& parameter : parameters) broadcast(*world, parameter.detach()).wait();
  std::vector<torch::Tensor> before, whole;
  for (const torch::Tensor& parameter : parameters) {
    before.push_back(parameter.detach().clone());
    whole.push_back(parameter.detach().clone().set_requires_grad(true));
  }
  ShardedOptimizer sharded(parameters, *world, make_adam());
  optim::Adam plain(whole, optim::AdamOptions(1e-2));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(parameters[i].equal(before[i])) << i;
    EXPECT_EQ(parameters[i].strides(), before[i].strides()) << i;
    EXPECT_TRUE(sharded.param_groups()[0].params()[i].is_same(parameters[i]));
  }
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      // A gradient may have other strides than its parameter.
      const torch::Tensor gradient = torch::full_like(whole[i], 0.1 * (step + 1)).contiguous();
      parameters[i].mutable_grad() = gradient;
      whole[i].mutable_grad() = gradient.clone();
    }
    sharded.step();
    plain.step();
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    EXPECT_TRUE(parameters[i].equal(whole[i])) << i;
}

TEST(ShardedOptimizer, ReturnsTheLossOfAClosure) {
  Training sharded;
  sharded.shard(make_adam());
  const Data data = make_data(4);
  const torch::Tensor loss = sharded.optimizer->step([&] {
    const torch::Tensor of_step = loss_of(sharded.ddp.forward(data.images), data.labels);
    of_step.backward();
    return of_step;
  });
  EXPECT_GT(loss.item<double>(), 0);
}

TEST(ShardedOptimizer, RefusesWhatItCannotShard) {
  Training training;
  const auto refusal = [&](std::vector<torch::Tensor> parameters, const Make& maker) {
    return std::string(
        error_of([&] { ShardedOptimizer(std::move(parameters), *world, maker); }).what());
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal(training.parameters(), make<optim::LBFGS>(optim::LBFGSOptions(1))),
              HasSubstr("treats each element alone"));
  EXPECT_THAT(refusal({}, make_adam()), HasSubstr("an optimizer of no parameters"));
  const torch::Tensor one = here(torch::rand({3})).set_requires_grad(true);
  EXPECT_THAT(refusal({one, one}, make_adam()), HasSubstr("occurs twice"));
  EXPECT_THAT(refusal({here(torch::rand({3})).to_sparse()}, make_adam()),
              HasSubstr("a sparse parameter"));
  ShardedOptimizer sharded({one}, *world, make_adam());
  one.mutable_grad() = here(torch::rand({3})).to_sparse();
  EXPECT_THAT(error_of([&] { sharded.step(); }).what(), HasSubstr("a sparse gradient"));
  one.mutable_grad() = torch::Tensor();
  sharded.add_param_group(
      optim::OptimizerParamGroup({here(torch::rand({2})).set_requires_grad(true)}));
  EXPECT_THAT(error_of([&] { sharded.step(); }).what(), HasSubstr("added to a sharded optimizer"));
  torch::serialize::OutputArchive archive;
  EXPECT_THAT(error_of([&] { sharded.save(archive); }).what(), HasSubstr("gather_state()"));
}

}  // namespace
}  // namespace hpcboot
