#pragma once

// A model with DistributedDataParallel beside the same one divided among the ranks.
#include <gtest/gtest.h>
#include <torch/optim.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "torch/transformer.hpp"
#include "torch/world.hpp"

namespace hpcboot {

namespace optim = torch::optim;

inline std::unique_ptr<optim::Optimizer> adam(const ShardedOptimizer::Groups& groups) {
  return std::make_unique<optim::Adam>(groups, optim::AdamOptions(1e-3));
}

inline std::shared_ptr<Transformer> make_transformer() {
  torch::manual_seed(3);
  return here(std::make_shared<Transformer>(32, 3, 20));
}

/// Another one on each rank, and in each step.
inline void seed(int step) {
  torch::manual_seed(static_cast<std::uint64_t>(1000 * step + world->rank()));
}

inline torch::Tensor text_of(int step) {
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

  /// @param make_other makes the one to divide, if it is not the same
  Pair(const Make& make, Loss of_step, const FullyShardOptions& options = {},
       const Make& make_other = {})
      : ddp(here(make()), *world),
        whole(adam({optim::OptimizerParamGroup(ddp.module()->parameters())})),
        model(fully_shard(here((make_other ? make_other : make)()), *world, options)),
        sharded(std::make_unique<ShardedOptimizer>(*model, adam)),
        loss(std::move(of_step)),
        steps_on_host(options.offload_to_host) {}

  torch::Tensor loss_of_ddp(int step) {
    return loss([&](const torch::Tensor& x) { return ddp.forward(x); }, step);
  }
  torch::Tensor loss_of_model(int step) {
    return loss([&](const torch::Tensor& x) { return model->forward(x); }, step);
  }

  void step(int number) {
    ddp.module()->zero_grad(/*set_to_none=*/true);
    loss_of_ddp(number).backward();
    step_whole();
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

  /// The optimizer's step of the whole model: where that of the shards is, so that both round
  /// alike.
  void step_whole() {
    if (!steps_on_host) {
      whole->step();
      return;
    }
    const torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> parameters = ddp.module()->parameters();
    std::vector<torch::Tensor> gradients;
    for (torch::Tensor& parameter : parameters) {
      gradients.push_back(parameter.grad());
      parameter.mutable_grad().reset();
      parameter.set_data(parameter.cpu());
      parameter.mutable_grad() = gradients.back().cpu();
    }
    whole->step();
    for (torch::Tensor& parameter : parameters) {
      parameter.mutable_grad().reset();
      parameter.set_data(here(parameter));
    }
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
  bool steps_on_host;
};

inline torch::Tensor loss_of_text_at(const std::function<torch::Tensor(torch::Tensor)>& model,
                                     int step) {
  const torch::Tensor text = text_of(step);
  return loss_of_text(model(text), text);
}

}  // namespace hpcboot
