// DataParallel over several replicas on the CPU.
#include "hpcboot/torch/data_parallel.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "compat.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/precision.hpp"
#include "models/model.hpp"
#include "support/expect_error.hpp"
#include "support/partly_used.hpp"

namespace hpcboot {
namespace {

std::vector<at::Device> cpus(std::size_t count) {
  return {count, at::Device(at::kCPU)};
}

std::shared_ptr<models::Model> mnistnet() {
  torch::manual_seed(1);
  return models::make_model("mnistnet");
}

void copy_parameters(const torch::nn::Module& from, const torch::nn::Module& to) {
  const torch::NoGradGuard no_gradients;
  auto own = to.named_parameters();
  for (const auto& item : from.named_parameters()) own[item.key()].copy_(item.value());
}

double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(DataParallel, HasTheGradientsAndLossesOfOneDevice) {
  // In double precision: in single precision, which of two nearly equal pixels is the largest can
  // depend on the number of images computed together.
  const auto in_double = [](std::shared_ptr<models::Model> model) {
    model->to(torch::kFloat64);
    return model;
  };
  for (const std::size_t replicas : {1U, 2U, 3U}) {
    const auto plain = in_double(mnistnet());
    DataParallel parallel([&] { return in_double(models::make_model("mnistnet")); },
                          cpus(replicas));
    copy_parameters(*plain, *parallel.module());
    torch::optim::Adam plain_optimizer(plain->parameters(), 1e-3);
    torch::optim::Adam optimizer(parallel.module()->parameters(), 1e-3);
    for (int step = 0; step < 5; ++step) {
      // A batch that is not divisible by the number of replicas, and finally one that is smaller.
      const std::int64_t batch = step < 4 ? 7 : 2;
      const torch::Tensor images = torch::randn({batch, 1, 12, 12}, torch::kFloat64);
      const torch::Tensor labels = torch::randint(10, {batch}, torch::kLong);
      const torch::Tensor expected = torch::cross_entropy_loss(plain->forward(images), labels);
      const torch::Tensor loss = torch::cross_entropy_loss(parallel.forward(images), labels);
      EXPECT_LT(largest_difference(expected, loss), 1e-5);
      plain_optimizer.zero_grad();
      optimizer.zero_grad();
      expected.backward();
      loss.backward();
      const auto own = parallel.module()->named_parameters();
      for (const auto& item : plain->named_parameters()) {
        EXPECT_LT(largest_difference(own[item.key()].grad(), item.value().grad()), 1e-5)
            << item.key() << ", " << replicas << " replicas, step " << step;
      }
      plain_optimizer.step();
      optimizer.step();
    }
  }
}

TEST(DataParallel, EachReplicaRunsOnAThreadOfItsOwn) {
  struct WhoRuns : torch::nn::Module {
    WhoRuns() : weight(register_parameter("weight", torch::ones({1}))) {}
    torch::Tensor forward(const torch::Tensor& x) {
      forward_thread = std::this_thread::get_id();
      torch::Tensor y = x * weight;
      y.register_hook([this](const torch::Tensor& gradient) {
        backward_thread = std::this_thread::get_id();
        return gradient;
      });
      return y;
    }
    torch::Tensor weight;
    std::thread::id forward_thread;
    std::thread::id backward_thread;
  };
  std::vector<std::shared_ptr<WhoRuns>> made;
  DataParallel parallel(
      [&] {
        made.push_back(std::make_shared<WhoRuns>());
        return made.back();
      },
      cpus(2));
  parallel.forward(torch::ones({4, 1})).sum().backward();
  EXPECT_EQ(made[0]->forward_thread, std::this_thread::get_id());
  EXPECT_NE(made[1]->forward_thread, std::this_thread::get_id());
  EXPECT_EQ(made[1]->backward_thread, made[1]->forward_thread);
  EXPECT_EQ(parallel.module()->weight.grad().item<double>(), 4);
}

TEST(DataParallel, GradientsReachTheInputAndAccumulate) {
  DataParallel parallel([] { return torch::nn::Linear(3, 1); }, cpus(2));
  const torch::Tensor input = torch::ones({4, 3}).requires_grad_();
  // Two forwards before the first backward, as in accumulation over parts of a batch.
  const torch::Tensor first = parallel.forward(input).sum();
  const torch::Tensor second = parallel.forward(input).sum();
  first.backward();
  second.backward();
  EXPECT_TRUE(parallel.module()->weight.grad().equal(torch::full({1, 3}, 8.0)));
  EXPECT_TRUE(torch::allclose(input.grad(),
                              2 * parallel.module()->weight.detach().expand({4, 3}).contiguous()));
}

TEST(DataParallel, ReplicasFollowAnOptimizerThatCountsNoVersions) {
  DataParallel parallel([] { return torch::nn::Linear(3, 1); }, cpus(2));
  torch::nn::Linear module = parallel.module();
  torch::optim::SGD optimizer(module->parameters(), 0.5);
  const torch::Tensor input = torch::ones({4, 3});
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const torch::Tensor output = parallel.forward(input);
    const torch::Tensor expected = module->forward(input);
    EXPECT_TRUE(output.allclose(expected)) << "step " << step;
    output.sum().backward();
    optimizer.step();
  }
}

TEST(DataParallel, AParameterThatIsNotUsedGetsNoGradient) {
  DataParallel parallel([] { return std::make_shared<testing_support::PartlyUsed>(); }, cpus(2));
  parallel.forward(torch::ones({2, 3})).sum().backward();
  EXPECT_FALSE(parallel.module()->unused->weight.grad().defined());
  EXPECT_TRUE(parallel.module()->used->weight.grad().equal(torch::full({2, 3}, 2.0)));
}

TEST(DataParallel, SplitsTensorsInStructures) {
  struct Net : torch::nn::Module {
    Net() { weight = register_parameter("weight", torch::full({1}, 2.0)); }
    torch::Tensor forward(const std::vector<torch::Tensor>& factors,
                          const std::pair<torch::Tensor, double>& shift) {
      rows = factors[0].size(0);
      return weight * factors[0] * factors[1] + shift.first + shift.second;
    }
    torch::Tensor weight;
    std::int64_t rows = 0;
  };
  DataParallel parallel([] { return std::make_shared<Net>(); }, {torch::kCPU, torch::kCPU});
  const std::vector<torch::Tensor> factors{torch::arange(5.0), torch::arange(5.0) + 1};
  const auto output = parallel.forward(factors, std::make_pair(torch::arange(5.0) * 10, 0.5));
  EXPECT_TRUE(output.allclose(2 * factors[0] * factors[1] + torch::arange(5.0) * 10 + 0.5));
  EXPECT_EQ(parallel.replicas()[0]->rows, 3);
  EXPECT_EQ(parallel.replicas()[1]->rows, 2);
  output.sum().backward();
  EXPECT_FLOAT_EQ(parallel.module()->weight.grad().item<float>(), 40);
}

TEST(DataParallel, TheFirstReplicasStatisticsAreTheModels) {
  DataParallel parallel([] { return torch::nn::BatchNorm1d(2); }, cpus(2));
  const torch::Tensor input =
      torch::tensor({{0.0F, 2.0F}, {2.0F, 4.0F}, {100.0F, 0.0F}, {0.0F, 0.0F}});
  for (int forward = 0; forward < 2; ++forward) parallel.forward(input).sum().backward();
  torch::nn::BatchNorm1d module = parallel.module();
  EXPECT_EQ(module->num_batches_tracked.item<int>(), 2);
  EXPECT_TRUE(torch::allclose(module->running_mean, torch::tensor({0.19F, 0.57F})));

  module->eval();
  const torch::NoGradGuard no_gradients;
  const torch::Tensor output = parallel.forward(input);
  EXPECT_FALSE(output.requires_grad());
  EXPECT_TRUE(torch::allclose(output, module->forward(input))) << "the same statistics on both";
}

torch::nn::Sequential two_layers() {
  return torch::nn::Sequential(torch::nn::Linear(3, 3), torch::nn::Tanh(), torch::nn::Linear(3, 2));
}

void freeze(torch::nn::Module& module, bool frozen) {
  for (torch::Tensor& parameter : module.parameters()) parameter.set_requires_grad(!frozen);
}

TEST(DataParallel, LayersMayBeFrozenAndUnfrozenAfterItsConstruction) {
  torch::nn::Sequential plain = two_layers();
  DataParallel parallel(two_layers, cpus(2));
  copy_parameters(*plain, *parallel.module());
  const torch::Tensor input = torch::randn({5, 3});
  // From the first layer frozen to the other one, to all trained: the number of gradients changes.
  const std::vector<std::pair<bool, bool>> states{{true, false}, {false, true}, {false, false}};
  for (const auto& [first, last] : states) {
    for (torch::nn::Sequential& model : {std::ref(plain), std::ref(parallel.module())}) {
      freeze(*model->ptr(0), first);
      freeze(*model->ptr(2), last);
      for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad().reset();
    }
    plain->forward(input).sum().backward();
    parallel.forward(input).sum().backward();
    const auto own = parallel.module()->named_parameters();
    for (const auto& item : plain->named_parameters()) {
      const torch::Tensor expected = item.value().grad();
      const torch::Tensor found = own[item.key()].grad();
      ASSERT_EQ(found.defined(), expected.defined()) << item.key() << " " << first << last;
      if (!expected.defined()) continue;
      EXPECT_TRUE(found.allclose(expected, 1e-5, 1e-6)) << item.key() << " " << first << last;
    }
  }
}

TEST(DataParallel, EachLayerHasTheModeThatItHasInTheModel) {
  DataParallel parallel(
      [] { return torch::nn::Sequential(torch::nn::BatchNorm1d(2), torch::nn::BatchNorm1d(2)); },
      cpus(2));
  parallel.module()->ptr(1)->eval();
  parallel.forward(torch::randn({6, 2}));
  for (const torch::nn::Sequential& replica : parallel.replicas()) {
    EXPECT_TRUE(replica->is_training());
    EXPECT_TRUE(replica->ptr(0)->is_training());
    EXPECT_FALSE(replica->ptr(1)->is_training());
  }
  parallel.module()->eval();
  parallel.forward(torch::randn({6, 2}));
  EXPECT_FALSE(parallel.replicas()[1]->ptr(0)->is_training());
}

TEST(DataParallel, ALossComputedByTheModelIsOneElementForEachReplica) {
  struct Loss : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return (x * weight).mean(); }
    torch::Tensor weight = register_parameter("weight", torch::ones({1}));
  };
  DataParallel parallel([] { return std::make_shared<Loss>(); }, cpus(2));
  const torch::Tensor losses = parallel.forward(torch::tensor({1.0F, 3.0F, 5.0F, 7.0F}));
  EXPECT_TRUE(losses.equal(torch::tensor({2.0F, 6.0F})));
  losses.mean().backward();
  EXPECT_FLOAT_EQ(parallel.module()->weight.grad().item<float>(), 4);
}

TEST(DataParallel, ParametersThatAreAddedHaveTheSameGradient) {
  struct Adapted : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return x.matmul(weight + change); }
    torch::Tensor weight = register_parameter("weight", torch::ones({2, 2}));
    torch::Tensor change = register_parameter("change", torch::zeros({2, 2}));
  };
  for (const std::size_t replicas : {1U, 2U, 3U}) {
    DataParallel parallel([] { return std::make_shared<Adapted>(); }, cpus(replicas));
    const torch::Tensor x = torch::arange(12.0F).view({6, 2});
    parallel.forward(x).sum().backward();
    const torch::Tensor expected = x.sum(0).view({2, 1}).expand({2, 2});
    EXPECT_TRUE(parallel.module()->weight.grad().equal(expected)) << replicas;
    EXPECT_TRUE(parallel.module()->change.grad().equal(expected)) << replicas;
  }
}

TEST(DataParallel, TakesSeveralInputsAndReturnsAnyStructure) {
  struct Model : torch::nn::Module {
    auto forward(const torch::Tensor& a, double factor, const torch::Tensor& b) {
      std::map<std::string, torch::Tensor> named{{"scaled", a * weight * factor},
                                                 {"largest", b.argmax(1)}};
      return std::make_tuple(a * weight + b, named,
                             std::make_tuple(torch::Tensor(), std::optional<torch::Tensor>(b)),
                             static_cast<int>(a.size(0)));
    }
    torch::Tensor weight = register_parameter("weight", torch::full({1}, 2.0F));
  };
  DataParallel parallel([] { return std::make_shared<Model>(); }, cpus(2));
  const torch::Tensor a = torch::randn({5, 3}).requires_grad_();
  const torch::Tensor b = torch::randn({5, 3}).requires_grad_();
  auto [sum, named, more, samples] = parallel.forward(a, 10.0, b);
  EXPECT_TRUE(sum.allclose(2 * a + b));
  EXPECT_TRUE(named.at("scaled").allclose(20 * a));
  EXPECT_TRUE(named.at("largest").equal(b.argmax(1)));
  EXPECT_FALSE(named.at("largest").requires_grad());
  EXPECT_FALSE(std::get<0>(more).defined());
  EXPECT_TRUE(std::get<1>(more)->equal(b));
  EXPECT_EQ(samples, 3) << "the first replica's";
  (sum.sum() + named.at("scaled").sum()).backward();
  EXPECT_TRUE(a.grad().allclose(torch::full({5, 3}, 22.0F)));
  EXPECT_TRUE(b.grad().allclose(torch::ones({5, 3})));
  EXPECT_NEAR(parallel.module()->weight.grad().item<double>(), 11 * a.sum().item<double>(), 1e-4);
}

TEST(DataParallel, AutocastReachesEveryReplicaAndFollowsTheOptimizer) {
  torch::manual_seed(1);
  DataParallel parallel([] { return torch::nn::Linear(8, 8); }, cpus(2));
  torch::optim::SGD optimizer(parallel.module()->parameters(), 0.5);
  const torch::Tensor input = torch::randn({6, 8});
  for (int step = 0; step < 3; ++step) {
    torch::Tensor output;
    {
      const Autocast autocast(Precision::bf16, at::kCPU);
      output = parallel.forward(input);
    }
    EXPECT_EQ(output.scalar_type(), at::kBFloat16);
    const torch::Tensor exact = parallel.module()->forward(input);
    // Rounding; with the weights of the step before, the difference is as large as the output.
    EXPECT_LT(largest_difference(output.to(at::kFloat), exact),
              0.02 * exact.abs().max().item<double>())
        << step;
    optimizer.zero_grad();
    output.to(at::kFloat).sum().backward();
    optimizer.step();
  }
}

TEST(DataParallel, EveryReplicaHasTheTypeOfTheCallersAutocast) {
  struct Looks : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      on_cuda = compat::autocast_type(at::kCUDA);
      return x;
    }
    at::ScalarType on_cuda = at::kFloat;
  };
  DataParallel parallel([] { return std::make_shared<Looks>(); }, cpus(2));
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const Autocast autocast(precision, at::kCUDA);
    parallel.forward(torch::ones({2, 1}));
    const at::ScalarType expected = precision == Precision::bf16 ? at::kBFloat16 : at::kHalf;
    for (const auto& replica : parallel.replicas()) EXPECT_EQ(replica->on_cuda, expected);
  }
}

TEST(DataParallel, RefusesWhatCannotBeSplitOrGathered) {
  struct Same : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& a, const torch::Tensor& b) { return a + b; }
  };
  DataParallel parallel([] { return std::make_shared<Same>(); }, cpus(2));
  EXPECT_THROW(parallel.forward(torch::ones({4}), torch::ones({2})), Error);
  EXPECT_THROW(parallel.forward(torch::ones({}), torch::ones({})), Error);

  struct Uneven : torch::nn::Module {
    std::vector<torch::Tensor> forward(const torch::Tensor& x) { return x.unbind(); }
  };
  DataParallel uneven([] { return std::make_shared<Uneven>(); }, cpus(2));
  EXPECT_THROW(uneven.forward(torch::ones({3, 2})), Error);
}

TEST(DataParallel, RefusesASecondBackwardAndASecondDerivative) {
  DataParallel parallel([] { return torch::nn::Linear(2, 1); }, cpus(2));
  const torch::Tensor input = torch::ones({4, 2}).requires_grad_();
  const torch::Tensor loss = parallel.forward(input).sum();
  loss.backward({}, /*retain_graph=*/false);
  test::expect_error(
      ErrorCode::invalid_model_use, [&] { loss.backward(); }, "a second backward");
  const torch::Tensor other = parallel.forward(input).sum();
  test::expect_error(
      ErrorCode::invalid_model_use,
      [&] { torch::autograd::grad({other}, {input}, {}, true, /*create_graph=*/true); },
      "create_graph");
}

TEST(DataParallel, WhatAReplicaThrowsReachesTheCaller) {
  struct Fails : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      if (x.max().item<double>() > 1) throw std::runtime_error("too large");
      return x;
    }
  };
  DataParallel parallel([] { return std::make_shared<Fails>(); }, cpus(2));
  EXPECT_THROW(parallel.forward(torch::tensor({0.0, 2.0})), std::runtime_error);
  EXPECT_EQ(parallel.forward(torch::tensor({0.0, 1.0})).size(0), 2) << "and the next batch is fine";
}

TEST(DataParallel, RefusesReplicasThatDifferAndNoDevices) {
  std::int64_t size = 2;
  EXPECT_THROW(DataParallel([&] { return torch::nn::Linear(3, size++); }, cpus(2)), Error);
  EXPECT_THROW(DataParallel([] { return torch::nn::Linear(3, 2); }, cpus(0)), Error);
}

}  // namespace
}  // namespace hpcboot
