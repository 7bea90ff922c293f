// checkpoint() beside the same modules without it. A program of its own: its allocations are
// counted.
#include "hpcboot/torch/activation_checkpoint.hpp"

#include <gmock/gmock.h>
#include <torch/nn/modules.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hpcboot/torch/precision.hpp"
#include "support/counted_memory.hpp"
#include "torch/thrown.hpp"

namespace hpcboot {
namespace {

namespace nn = torch::nn;
using testing::HasSubstr;
using torch::Tensor;

std::vector<Tensor> gradients_of(const nn::Module& module) {
  std::vector<Tensor> all;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter.grad());
  return all;
}

void expect_equal(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].defined(), expected[i].defined()) << i;
    EXPECT_TRUE(!found[i].defined() || found[i].equal(expected[i])) << i;
  }
}

/// The module twice, with the same weights.
template <typename Impl, typename... Arguments>
std::pair<std::shared_ptr<Impl>, std::shared_ptr<Impl>> two(Arguments... arguments) {
  const auto make = [&] {
    torch::manual_seed(3);
    return std::make_shared<Impl>(arguments...);
  };
  auto first = make();
  return {first, make()};
}

/// With random numbers and running averages.
struct BlockImpl : nn::Module {
  explicit BlockImpl(std::int64_t size = 8)
      : up(register_module("up", nn::Linear(size, 4 * size))),
        norm(register_module("norm", nn::BatchNorm1d(4 * size))),
        down(register_module("down", nn::Linear(4 * size, size))) {}

  Tensor forward(Tensor x) {
    return x + down->forward(torch::dropout(norm->forward(up->forward(x)).relu(), 0.3,
                                            /*train=*/is_training()));
  }

  nn::Linear up;
  nn::BatchNorm1d norm;
  nn::Linear down;
};
TORCH_MODULE(Block);

TEST(ActivationCheckpoint, ComputesTheSameAndLeavesTheSame) {
  const auto [plain, other] = two<BlockImpl>();
  const auto run = [](const std::function<Tensor(Tensor)>& block) {
    torch::manual_seed(5);
    Tensor x = torch::randn({16, 8}, torch::requires_grad());
    const Tensor y = block(block(x));  // the same twice
    y.square().sum().backward();
    return std::vector<Tensor>{y, x.grad(), torch::rand({4})};
  };
  const auto expected = run([&](const Tensor& x) { return plain->forward(x); });
  const auto found = run([&](const Tensor& x) { return checkpoint(other, x); });
  expect_equal(found, expected);
  expect_equal(gradients_of(*other), gradients_of(*plain));
  expect_equal(other->buffers(), plain->buffers());
  EXPECT_EQ(other->norm->num_batches_tracked.item<std::int64_t>(), 2);
}

TEST(ActivationCheckpoint, KeepsTheRandomNumbersBetweenThePasses) {
  const auto [plain, other] = two<BlockImpl>();
  const auto run = [](const std::function<Tensor(Tensor)>& block) {
    torch::manual_seed(5);
    const Tensor y = block(torch::randn({16, 8}));
    const Tensor between = torch::rand({4});
    y.square().sum().backward();
    return std::vector<Tensor>{between, torch::rand({4})};
  };
  expect_equal(run([&](const Tensor& x) { return checkpoint(other, x); }),
               run([&](const Tensor& x) { return plain->forward(x); }));
  expect_equal(gradients_of(*other), gradients_of(*plain));
}

struct BranchesImpl : nn::Module {
  BranchesImpl() : one(register_module("one", nn::Linear(4, 4))) {}

  std::tuple<Tensor, std::vector<Tensor>, std::optional<Tensor>, int> forward(
      const std::vector<Tensor>& given, const Tensor& mask, std::optional<Tensor> more,
      double factor) {
    Tensor y = one->forward(given[0]).masked_fill(mask, 0) * factor;
    if (more) y = y + *more;
    return {y, {given[1].sin(), mask}, std::nullopt, 7};
  }

  nn::Linear one;
};

TEST(ActivationCheckpoint, TakesAndReturnsWhatForwardDoes) {
  const auto [plain, other] = two<BranchesImpl>();
  const auto run = [](const auto& branches) {
    torch::manual_seed(1);
    std::vector<Tensor> given = {torch::randn({3, 4}, torch::requires_grad()),
                                 torch::randn({3}, torch::requires_grad()), torch::Tensor()};
    const Tensor mask = torch::eye(4).slice(0, 0, 3).to(torch::kBool);
    const auto [y, more, none, seven] = branches(given, mask, std::optional<Tensor>(), 2.5);
    EXPECT_EQ(seven, 7);
    EXPECT_FALSE(none.has_value());
    EXPECT_FALSE(more.at(1).requires_grad());
    (y.sum() + more.at(0).sum()).backward();
    return std::vector<Tensor>{y, more[0], more[1], given[0].grad(), given[1].grad()};
  };
  const auto expected = run([&](auto&&... all) { return plain->forward(all...); });
  expect_equal(run([&](auto&&... all) { return checkpoint(other, all...); }), expected);
  expect_equal(gradients_of(*other), gradients_of(*plain));
}

TEST(ActivationCheckpoint, LeavesWhatALossDoesNotUseWithoutGradient) {
  const auto block = std::make_shared<BranchesImpl>();
  const auto given = std::vector<Tensor>{torch::randn({3, 4}), torch::randn({3}).requires_grad_()};
  const Tensor mask = torch::zeros({3, 4}, torch::kBool);
  const auto result = checkpoint(block, given, mask, std::optional<Tensor>(), 1.0);
  std::get<1>(result)[0].sum().backward();
  EXPECT_TRUE(given[1].grad().defined());
  EXPECT_FALSE(block->one->weight.grad().defined());
}

struct TiedImpl : nn::Module {
  TiedImpl() : first(register_module("first", nn::Linear(4, 4))) {
    register_module("second", first);
  }
  Tensor forward(const Tensor& x) { return first->forward(first->forward(x).tanh()); }
  nn::Linear first;
};

TEST(ActivationCheckpoint, CountsAParameterThatIsRegisteredTwiceOnce) {
  const auto [plain, other] = two<TiedImpl>();
  const Tensor x = torch::ones({2, 4});
  plain->forward(x).sum().backward();
  checkpoint(other, x).sum().backward();
  EXPECT_TRUE(other->first->weight.grad().allclose(plain->first->weight.grad()));
}

TEST(ActivationCheckpoint, NestsAndTakesSeveralBackwardPasses) {
  struct Outer : nn::Module {
    Outer() : inner(register_module("inner", Block())) {}
    Tensor forward(const Tensor& x) { return checkpoint(inner, checkpoint(inner, x)).tanh(); }
    Block inner;
  };
  const auto [plain, other] = two<BlockImpl>();
  const auto outer = std::make_shared<Outer>();
  outer->inner = other;
  outer->replace_module("inner", nn::ModuleHolder<BlockImpl>(other));
  torch::manual_seed(1);
  const Tensor x = torch::randn({6, 8});
  const Tensor y = checkpoint(outer, x);
  y.sum().backward({}, /*retain_graph=*/true);
  y.square().sum().backward();
  torch::manual_seed(1);
  const Tensor same = torch::randn({6, 8});
  const Tensor z = plain->forward(plain->forward(same)).tanh();
  z.sum().backward({}, /*retain_graph=*/true);
  z.square().sum().backward();
  EXPECT_TRUE(y.equal(z));
  expect_equal(gradients_of(*other), gradients_of(*plain));
  expect_equal(other->buffers(), plain->buffers());
}

void train_in_bf16(const std::shared_ptr<BlockImpl>& block,
                   const std::function<Tensor(Tensor)>& forward) {
  torch::optim::SGD optimizer(block->parameters(), 0.1);
  for (int step = 0; step < 3; ++step) {
    torch::manual_seed(static_cast<std::uint64_t>(step));
    const Tensor x = torch::randn({16, 8});
    Tensor loss;
    {
      const Autocast autocast(Precision::bf16, at::kCPU);
      loss = forward(x).square().mean();
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

TEST(ActivationCheckpoint, ComputesInThePrecisionOfTheFirstPass) {
  const auto [plain, other] = two<BlockImpl>();
  train_in_bf16(plain, [&](const Tensor& x) { return plain->forward(x); });
  train_in_bf16(other, [&](const Tensor& x) { return checkpoint(other, x); });
  expect_equal(other->parameters(), plain->parameters());
}

TEST(ActivationCheckpoint, SharesNoWeightsOfAutocastWithOtherPasses) {
  const auto [plain, other] = two<BlockImpl>();
  train_in_bf16(plain, [&](const Tensor& x) { return plain->forward(plain->forward(x)); });
  train_in_bf16(other, [&](const Tensor& x) { return other->forward(checkpoint(other, x)); });
  // The gradients of two uses are added in fp32, those of one converted weight in bf16.
  const auto found = gradients_of(*other), expected = gradients_of(*plain);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (expected[i].dim() < 2) continue;  // of a bias before a normalisation: rounding alone
    EXPECT_LE((found[i] - expected[i]).norm().item<double>(),
              0.02 * expected[i].norm().item<double>())
        << i;
  }
}

TEST(ActivationCheckpoint, OnlyRunsTheModuleIfThereAreNoGradients) {
  const auto block = std::make_shared<BlockImpl>();
  {
    const torch::NoGradGuard no_grad;
    EXPECT_FALSE(checkpoint(block, torch::randn({4, 8})).requires_grad());
  }
  for (Tensor parameter : block->parameters()) parameter.set_requires_grad(false);
  EXPECT_FALSE(checkpoint(block, torch::randn({4, 8})).requires_grad());
  // Frozen, but within a model.
  const Tensor x = torch::randn({4, 8}, torch::requires_grad());
  checkpoint(block, x).sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST(ActivationCheckpoint, WrapsAModuleUnderItsNames) {
  const auto plain = std::make_shared<BlockImpl>();
  nn::Sequential net(checkpointed(Block()), checkpointed(nn::Linear(8, 2)));
  EXPECT_THAT(net->named_parameters().keys(),
              testing::IsSupersetOf({"0.up.weight", "0.norm.bias", "1.weight", "1.bias"}));
  EXPECT_EQ(checkpointed(plain)->named_parameters().keys(), plain->named_parameters().keys());
  EXPECT_EQ(checkpointed(plain)->named_buffers().keys(), plain->named_buffers().keys());
  net->forward(torch::randn({4, 8})).sum().backward();
  for (const Tensor& parameter : net->parameters()) EXPECT_TRUE(parameter.grad().defined());
  net->eval();
  const Tensor x = torch::randn({4, 8});
  EXPECT_TRUE(net->forward(x).equal(net->forward(x)));
  std::stringstream file;
  torch::save(net, file);
  nn::Sequential other(Block(), nn::Linear(8, 2));
  torch::load(other, file);
  other->eval();
  EXPECT_TRUE(net->forward(x).equal(other->forward(x)));
}

std::int64_t peak_of(const std::function<void()>& action) {
  const std::int64_t before = counted_memory::live();
  counted_memory::forget_peak();
  action();
  return counted_memory::peak() - before;
}

TEST(ActivationCheckpoint, KeepsTheInputsAndOneLayer) {
  constexpr int kLayers = 12;
  std::vector<Block> layers;
  for (int i = 0; i < kLayers; ++i) layers.emplace_back(64);
  const Tensor x = torch::randn({1000, 64});
  const auto train = [&](const auto& run) {
    return [&, run] {
      Tensor y = x;
      for (const Block& layer : layers) y = run(layer, y);
      y.sum().backward();
    };
  };
  const auto plain =
      train([](const Block& layer, const Tensor& y) { return Block(layer)->forward(y); });
  const auto saving =
      train([](const Block& layer, const Tensor& y) { return checkpoint(layer, y); });
  plain();  // gradients are there from now on
  const auto one = static_cast<double>(peak_of([&] { layers[0]->forward(x).sum().backward(); }));
  const auto whole = static_cast<double>(peak_of(plain));
  const auto kept = static_cast<double>(peak_of(saving));
  const auto input = static_cast<double>(x.nbytes());
  RecordProperty("bytes", std::to_string(kept) + " of " + std::to_string(whole));
  EXPECT_GE(whole, 0.6 * kLayers * one);
  // And two gradients of an input.
  EXPECT_LE(kept, kLayers * input + one + 3 * input);
  EXPECT_EQ(counted_memory::live(), (saving(), counted_memory::live()));
}

template <typename Forward>
struct Custom : nn::Module {
  explicit Custom(Forward how)
      : run(std::move(how)), weight(register_parameter("weight", torch::ones({3}))) {}
  Tensor forward(Tensor x) { return run(x, weight); }
  Forward run;
  Tensor weight;
};
template <typename Forward>
std::shared_ptr<Custom<Forward>> custom(Forward forward) {
  return std::make_shared<Custom<Forward>>(std::move(forward));
}

TEST(ActivationCheckpoint, RefusesWhatWouldGiveWrongGradients) {
  const Tensor x = torch::ones({3});
  const auto in_place =
      custom([](Tensor given, const Tensor& weight) { return given.mul_(2) * weight; });
  EXPECT_THAT(error_of([&] { checkpoint(in_place, x.clone()); }).what(),
              HasSubstr("changes input 0 in place"));

  int calls = 0;
  const auto changing = custom([&calls](const Tensor& given, const Tensor& weight) {
    return ++calls == 1 ? given * weight : (given * weight).sum();
  });
  EXPECT_THAT(error_of([&] { checkpoint(changing, x).sum().backward(); }).what(),
              HasSubstr("results of shape [] in the second forward pass of checkpoint()"));

  const auto product = custom([](const Tensor& given, const Tensor& w) { return given * w * w; });
  EXPECT_THAT(error_of([&] {
                checkpoint(product, x)
                    .sum()
                    .backward({}, /*retain_graph=*/true,
                              /*create_graph=*/true);
              }).what(),
              HasSubstr("create_graph through checkpoint()"));

  product->weight.register_hook([](const Tensor& gradient) { return gradient * 2; });
  EXPECT_THAT(error_of([&] { checkpoint(product, x); }).what(),
              HasSubstr("parameter 'weight' has or had a hook"));
}

TEST(ActivationCheckpoint, RefusesWhatChangesBetweenThePasses) {
  const auto product = custom([](const Tensor& given, const Tensor& w) { return given * w * w; });
  const Tensor x = torch::ones({3});
  Tensor y = checkpoint(product, x);
  {
    const torch::NoGradGuard no_grad;
    product->weight.add_(1);
  }
  EXPECT_THAT(error_of([&] { y.sum().backward(); }).what(),
              HasSubstr("change of parameter 'weight' between the passes"));
  Block block(8);
  y = checkpoint(block, torch::ones({4, 8}));
  block->norm->eval();
  EXPECT_THAT(error_of([&] { y.sum().backward(); }).what(), HasSubstr("train() or eval()"));
  y = checkpoint(product, x);
  product->weight.register_hook([](const Tensor& gradient) { return gradient * 2; });
  EXPECT_THAT(error_of([&] { y.sum().backward(); }).what(), HasSubstr("has or had a hook"));
}

TEST(ActivationCheckpoint, RefusesToLoseTheGradientsOfOtherTensors) {
  const auto tied = std::make_shared<nn::LinearImpl>(3, 3);  // used, but not registered
  const auto uses = custom(
      [&tied](const Tensor& given, const Tensor& weight) { return tied->forward(given * weight); });
  const Tensor x = torch::ones({2, 3});
  EXPECT_THAT(error_of([&] { checkpoint(uses, x).sum().backward(); }).what(),
              HasSubstr("needs a gradient, and is neither an argument nor a parameter of it"));
  for (Tensor parameter : tied->parameters()) parameter.set_requires_grad(false);
  checkpoint(uses, x).sum().backward();
  EXPECT_TRUE(uses->weight.grad().defined());
  uses->register_module("tied", tied);
  for (Tensor parameter : tied->parameters()) parameter.set_requires_grad(true);
  checkpoint(uses, x).sum().backward();
  EXPECT_TRUE(tied->weight.grad().defined());
}

/// Adds what it keeps of its last result.
struct RecurrentImpl : nn::Module {
  RecurrentImpl() : linear(register_module("linear", nn::Linear(3, 3))) {}
  Tensor forward(const Tensor& x) {
    const Tensor input = last.defined() ? x + last * 0 : x;  // in the second pass, of the first
    last = linear->forward(input);
    return last;
  }
  nn::Linear linear;
  Tensor last;
};

TEST(ActivationCheckpoint, LetsAModuleKeepItsResult) {
  const std::int64_t live = counted_memory::live();
  {
    const auto module = std::make_shared<RecurrentImpl>();
    const Tensor x = torch::ones({2, 3});
    for (int i = 0; i < 2; ++i) checkpoint(module, x).sum().backward();
    EXPECT_TRUE(module->linear->weight.grad().equal(torch::full({3, 3}, 4.0)));
    checkpoint(module, x);
  }
  EXPECT_EQ(counted_memory::live(), live);
  // Results may change in place: of a Linear with 3 dimensions, too, which is a view.
  const nn::Linear linear(3, 3);
  Tensor y = checkpoint(linear, torch::ones({2, 2, 3}));
  y.add_(1).sum().backward();
  EXPECT_TRUE(linear->bias.grad().equal(torch::full({3}, 4.0)));
}

struct ViewsImpl : nn::Module {
  ViewsImpl() : weight(register_parameter("weight", torch::ones({3}))) {}
  Tensor forward(const std::vector<Tensor>& tensors, c10::IntArrayRef shape, std::string_view how) {
    const Tensor sum = (tensors[0] + tensors[1]) * weight;
    return sum.reshape(shape) * (how.substr(0, 5) == "twice" ? 2 : 1);
  }
  Tensor weight;
};

TEST(ActivationCheckpoint, CopiesWhatViewsShow) {
  const auto module = std::make_shared<ViewsImpl>();
  Tensor y;
  {
    const std::vector<std::int64_t> shape = {3, 2};
    const std::vector<Tensor> tensors = {torch::ones({2, 3}), torch::ones({2, 3})};
    const std::string how = "twice, or however often it takes to be a long text";
    y = checkpoint(module, at::TensorList(tensors), c10::IntArrayRef(shape), std::string_view(how));
  }
  y.sum().backward();
  EXPECT_TRUE(module->weight.grad().equal(torch::full({3}, 8.0)));
}

struct DetachingImpl : nn::Module {
  DetachingImpl() : weight(register_parameter("weight", torch::ones({3}))) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& x) {
    return {x * weight, (x * weight).detach()};
  }
  Tensor weight;
};

TEST(ActivationCheckpoint, GivesNothingToResultsThatForwardDetaches) {
  const auto both = std::make_shared<DetachingImpl>();
  const auto [trained, detached] = checkpoint(both, torch::ones({3}));
  (trained + detached).sum().backward();
  EXPECT_TRUE(both->weight.grad().equal(torch::ones({3})));
}

TEST(ActivationCheckpoint, PassesOnWhatTheModuleThrows) {
  int calls = 0;
  const auto failing = custom([&calls](const Tensor& given, const Tensor& weight) {
    if (++calls == 2) throw std::runtime_error("out of luck");
    return given * weight;
  });
  const Tensor y = checkpoint(failing, torch::ones({3}));
  try {
    y.sum().backward();
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("out of luck"));
  }
}

}  // namespace
}  // namespace hpcboot
