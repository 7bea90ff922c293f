// DataParallel over several replicas on the CPU.
#include "hpcboot/torch/data_parallel.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <stdexcept>

#include "hpcboot/error.hpp"
#include "models/model.hpp"
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
    {
      const torch::NoGradGuard no_gradients;
      auto own = parallel.module()->named_parameters();
      for (const auto& item : plain->named_parameters()) own[item.key()].copy_(item.value());
    }
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
