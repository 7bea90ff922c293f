// Rows of trainer/ddp.md where PyTorch fails, hangs or computes something unexpected, and
// DistributedDataParallel says so on every rank.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "hpcboot/error.hpp"
#include "support/expect_error.hpp"
#include "torch/pytorch/models.hpp"
#include "torch/pytorch/recorded.hpp"

namespace hpcboot::pytorch {
namespace {

using test::expect_error;
using Used = std::vector<int>;

/// What a module has after training with static_graph, and without.
void expect_same_parameters(const torch::nn::Module& found, const torch::nn::Module& expected) {
  const std::vector<torch::Tensor> wanted = expected.parameters();
  const std::vector<torch::Tensor> parameters = found.parameters();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(parameters[i].allclose(wanted[i], 1e-5, 1e-6)) << i;
  }
}

/// The losses of training Heads, with a first step whose loss is dropped.
void train_heads(DistributedDataParallel<std::shared_ptr<Heads>>& ddp, bool with_no_sync) {
  ddp.forward(batch(0), Used{0, 1});  // as if the loss had thrown
  train(*ddp.module(), [&](int step) {
    if (with_no_sync) {
      const auto guard = ddp.no_sync();
      ddp.forward(batch(step, 1), Used{0, 1}).square().mean().backward();
    }
    return ddp.forward(batch(step), Used{0, 1}).square().mean();
  });
}

// PyTorch fails if the first step has no_sync(), 1.13 in any step.
TEST(PyTorchTable, StaticGraphWithNoSync) {
  DistributedDataParallelOptions dynamic;
  dynamic.find_unused_parameters = true;
  auto expected = wrap(std::make_shared<Heads>(), dynamic);
  train_heads(expected, true);
  auto ddp = wrap(std::make_shared<Heads>(), static_graph());
  train_heads(ddp, true);
  expect_same_parameters(*ddp.module(), *expected.module());
}

// PyTorch 1.13 fails.
TEST(PyTorchTable, StaticGraphAfterAForwardWithoutBackward) {
  DistributedDataParallelOptions dynamic;
  dynamic.find_unused_parameters = true;
  auto expected = wrap(std::make_shared<Heads>(), dynamic);
  train_heads(expected, false);
  auto ddp = wrap(std::make_shared<Heads>(), static_graph());
  train_heads(ddp, false);
  expect_same_parameters(*ddp.module(), *expected.module());
}

TEST(PyTorchTable, StaticGraphThatChanges) {
  auto more = wrap(std::make_shared<Heads>(), static_graph());
  more.forward(batch(0), Used{0}).sum().backward();
  const torch::Tensor with_another = more.forward(batch(1), Used{0, 2}).sum();
  expect_error(
      ErrorCode::invalid_model_use, [&] { with_another.backward(); }, "head2.",
      "which the first backward pass did not reach", "find_unused_parameters");
  auto fewer = wrap(std::make_shared<Heads>(), static_graph());
  fewer.forward(batch(0), Used{0, 1}).sum().backward();
  const torch::Tensor without_one = fewer.forward(batch(1), Used{0}).sum();
  expect_error(
      ErrorCode::invalid_model_use, [&] { without_one.backward(); },
      "no gradient of head1.weight, head1.bias", "which the first backward pass reached");
}

TEST(PyTorchTable, StaticGraphWithFixedBuckets) {
  auto options = static_graph();
  options.fixed_buckets = true;
  expect_error(
      ErrorCode::invalid_model_use, [&] { wrap(std::make_shared<Net>(), options); },
      "static_graph together with fixed_buckets");
}

// PyTorch ignores the name.
TEST(PyTorchTable, UnknownIgnoredParameter) {
  DistributedDataParallelOptions options;
  options.ignored_parameters = {"second.weight", "second"};
  expect_error(
      ErrorCode::invalid_model_use, [&] { wrap(std::make_shared<Net>(), options); },
      "'second' among ignored_parameters, which the model does not have");
}

TEST(PyTorchTable, EveryParameterIgnored) {
  DistributedDataParallelOptions options;
  options.ignored_parameters = {"first.weight", "first.bias", "second.weight", "second.bias"};
  expect_error(
      ErrorCode::invalid_model_use, [&] { wrap(std::make_shared<Net>(), options); },
      "a model without a parameter that requires gradients");
}

// PyTorch hangs, or exchanges gradients that do not belong together.
TEST(PyTorchTable, OptionsThatDifferBetweenRanks) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs 2 ranks to differ";
  DistributedDataParallelOptions options;
  options.static_graph = world->rank() == 1;
  expect_error(
      ErrorCode::invalid_model_use, [&] { wrap(std::make_shared<Net>(), options); },
      "rank 1 has option static_graph = true, but rank 0 has option static_graph = false");
  options.static_graph = false;
  options.ignored_parameters = {world->rank() == 1 ? "first.bias" : "second.bias"};
  expect_error(
      ErrorCode::invalid_model_use, [&] { wrap(std::make_shared<Net>(), options); },
      "rank 1 has option ignored_parameters = first.bias");
}

// PyTorch leaves its gradient out of the exchange.
TEST(PyTorchTable, UnfrozenAfterWrapping) {
  auto model = std::make_shared<Net>();
  model->first->bias.set_requires_grad(false);
  auto ddp = wrap(model);
  ddp.forward(batch(0)).sum().backward();
  model->first->bias.set_requires_grad(true);
  expect_error(
      ErrorCode::invalid_model_use, [&] { ddp.forward(batch(1)); },
      "parameter 'first.bias' requires a gradient, but did not when");
}

TEST(PyTorchTable, FrozenAfterWrappingWithoutFindUnused) {
  auto ddp = wrap(std::make_shared<Net>());
  ddp.module()->first->bias.set_requires_grad(false);
  const torch::Tensor loss = ddp.forward(batch(0)).sum();
  expect_error(
      ErrorCode::invalid_model_use, [&] { loss.backward(); },
      "1 of 4 parameters got no gradient: first.bias");
}

TEST(PyTorchTable, CheckpointedTwiceWithoutStaticGraph) {
  auto ddp = wrap(std::make_shared<Segments>(2));
  const torch::Tensor loss = ddp.forward(batch(0)).sum();
  expect_error(
      ErrorCode::invalid_model_use, [&] { loss.backward(); }, "a second gradient of second.",
      "set static_graph");
}

// The message is c10d's: it counts the layer as unused, since the graph does not show what a
// segment uses.
TEST(PyTorchTable, CheckpointedSegmentWithFindUnused) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  auto ddp = wrap(std::make_shared<Segments>(1), options);
  const torch::Tensor loss = ddp.forward(batch(0)).sum();
  try {
    loss.backward();
    FAIL() << "the backward pass did not fail";
  } catch (const std::exception& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("Expected to mark a variable ready only once"), std::string::npos) << text;
  }
}

// PyTorch fails unless .grad has gradients of a step before, and exchanges no gradients of
// gradients.
TEST(PyTorchTable, CreateGraph) {
  auto ddp = wrap(std::make_shared<Net>());
  const torch::Tensor loss = ddp.forward(batch(0)).square().mean();
  expect_error(
      ErrorCode::invalid_model_use, [&] { loss.backward({}, {}, /*create_graph=*/true); },
      "a backward pass with create_graph", "torch::autograd::grad()");
  // A gradient with a graph would own itself through it.
  for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
}

/// Throws in the first backward pass, on every rank, when part of the gradients is known.
torch::Tensor failing_loss(DistributedDataParallel<std::shared_ptr<Net>>& ddp) {
  const torch::Tensor x = batch(0).requires_grad_();
  x.register_hook([](const torch::Tensor&) { throw std::runtime_error("out of luck"); });
  return ddp.forward(x).square().mean();
}

TEST(PyTorchTable, ExceptionInTheBackwardPass) {
  auto model = std::make_shared<Net>();
  {
    auto ddp = wrap(model);
    for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad().reset();
    EXPECT_THROW(failing_loss(ddp).backward(), std::runtime_error);
    expect_error(
        ErrorCode::invalid_model_use, [&] { ddp.forward(batch(1)); },
        "the previous backward pass ended with an exception", "construct");
  }
  // As the message says.
  for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad().reset();
  auto again = wrap(model);
  auto expected = wrap(std::make_shared<Net>());
  const auto train_on = [&](auto& ddp) {
    train(*ddp.module(), [&](int step) { return ddp.forward(batch(step)).square().mean(); });
  };
  train_on(again);
  train_on(expected);
  expect_same_parameters(*model, *expected.module());
}

}  // namespace
}  // namespace hpcboot::pytorch
