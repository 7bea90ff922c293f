// The options of DistributedDataParallel, on the ranks of a launch.
#include <gtest/gtest.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "torch/small_net.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

TEST(DdpOptions, AccumulatedGradientsAreThoseOfTheWholeBatch) {
  constexpr int kPasses = 3;
  constexpr std::int64_t kMicro = 2;
  const int ranks = world->world_size();
  const Data data = make_data(kMicro * kPasses * ranks);
  const Gradients expected = expected_gradients(
      [&](models::Model& model) { return loss_of(model.forward(data.images), data.labels); });

  DistributedDataParallel ddp(make_net(), *world);
  // Twice, since the buckets are rebuilt after the first exchange.
  for (int step = 0; step < 2; ++step) {
    for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
    for (int pass = 0; pass < kPasses; ++pass) {
      const Data mine = data.part((world->rank() * kPasses + pass) * kMicro, kMicro);
      const auto backward = [&] {
        (loss_of(ddp.forward(mine.images), mine.labels) / kPasses).backward();
      };
      if (pass + 1 < kPasses) {
        const auto guard = ddp.no_sync();
        backward();
      } else {
        backward();
      }
    }
    expect_close(gradients_of(*ddp.module()), expected, 1e-5);
  }
}

TEST(DdpOptions, WithNoSyncGradientsStayTheRanksOwn) {
  DistributedDataParallel ddp(here(torch::nn::Linear(1, 1)), *world);
  const auto backward = [&] {
    ddp.forward(here(torch::full({1, 1}, static_cast<double>(world->rank())))).sum().backward();
    return ddp.module()->weight.grad().item<double>();
  };
  const double own = world->rank();
  const double mean = (world->world_size() - 1) / 2.0;
  {
    const auto guard = ddp.no_sync();
    EXPECT_DOUBLE_EQ(backward(), own);
    EXPECT_DOUBLE_EQ(backward(), 2 * own);
  }
  EXPECT_NEAR(backward(), 3 * mean, 1e-6) << "the sum is exchanged as a whole";
}

TEST(DdpOptions, AnySizeOfBucketsGivesTheSameGradients) {
  const Data data = make_data(2 * world->world_size());
  const Gradients expected = expected_gradients(
      [&](models::Model& model) { return loss_of(model.forward(data.images), data.labels); });
  for (const double megabytes : {0.001, 0.5, 100.0}) {
    DistributedDataParallelOptions options;
    options.bucket_cap_mb = megabytes;
    DistributedDataParallel ddp(make_net(), *world, options);
    const Data mine = data.part(2 * world->rank(), 2);
    for (int step = 0; step < 2; ++step) {
      for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
      loss_of(ddp.forward(mine.images), mine.labels).backward();
      expect_close(gradients_of(*ddp.module()), expected, 1e-5);
    }
  }
}

TEST(DdpOptions, BatchesOfDifferentSizeAreNoProblem) {
  // Rank r has r + 1 samples. With losses that are sums over the batch divided by the global mean
  // number of samples, the average over ranks is the gradient of the whole batch.
  const std::int64_t ranks = world->world_size();
  const std::int64_t total = ranks * (ranks + 1) / 2;
  const Data data = make_data(total);
  const Gradients expected = expected_gradients(
      [&](models::Model& model) { return loss_of(model.forward(data.images), data.labels); });
  DistributedDataParallel ddp(make_net(), *world);
  const std::int64_t count = world->rank() + 1;
  const Data mine = data.part(world->rank() * (world->rank() + 1) / 2, count);
  for (int step = 0; step < 2; ++step) {
    for (torch::Tensor& parameter : ddp.module()->parameters()) parameter.mutable_grad().reset();
    const double weight = static_cast<double>(count * ranks) / static_cast<double>(total);
    (loss_of(ddp.forward(mine.images), mine.labels) * weight).backward();
    expect_close(gradients_of(*ddp.module()), expected, 1e-5);
  }
}

/// Several heads on one trunk, of which each forward uses one.
struct HeadsImpl : torch::nn::Module {
  HeadsImpl() {
    for (int head = 0; head < 3; ++head) {
      heads.push_back(register_module("head" + std::to_string(head), torch::nn::Linear(3, 1)));
    }
  }
  torch::Tensor forward(const torch::Tensor& input, std::size_t head) {
    return heads[head]->forward(trunk->forward(input));
  }
  torch::nn::Linear trunk = register_module("trunk", torch::nn::Linear(4, 3));
  std::vector<torch::nn::Linear> heads;
};
TORCH_MODULE(Heads);

TEST(DdpOptions, TheUnusedParametersMayBeOthersInEveryStepAndOnEveryRank) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  torch::manual_seed(4);
  Heads model = here(Heads());
  torch::manual_seed(4);
  DistributedDataParallel ddp(here(Heads()), *world, options);
  const int ranks = world->world_size();
  const torch::Tensor inputs = here(torch::randn({ranks, 2, 4}));
  for (int step = 0; step < 6; ++step) {
    model->zero_grad();
    ddp.module()->zero_grad();
    const auto head_of = [&](int rank) { return static_cast<std::size_t>(step / 2 + rank) % 3; };
    torch::Tensor loss = here(torch::zeros({}));
    for (int rank = 0; rank < ranks; ++rank) {
      loss = loss + model->forward(inputs[rank], head_of(rank)).sum() / ranks;
    }
    loss.backward();
    ddp.forward(inputs[world->rank()], head_of(world->rank())).sum().backward();
    for (const auto& item : model->named_parameters()) {
      const torch::Tensor found = ddp.module()->named_parameters()[item.key()].grad();
      // As in PyTorch: a parameter that no rank has used keeps the gradient that it had.
      if (!item.value().grad().defined()) continue;
      EXPECT_TRUE(torch::allclose(found, item.value().grad(), 1e-5, 1e-6))
          << item.key() << " in step " << step;
    }
  }
}

TEST(DdpOptions, GradientsThatAreViewsOfBucketsGoThroughZeroGrad) {
  const Data data = make_data(2 * world->world_size());
  const Data mine = data.part(2 * world->rank(), 2);
  DistributedDataParallelOptions options;
  options.gradient_as_bucket_view = true;
  options.bucket_cap_mb = 0.1;
  DistributedDataParallel viewed(make_net(), *world, options);
  DistributedDataParallel plain(make_net(), *world);
  torch::optim::SGD viewed_optimizer(viewed.module()->parameters(), 0.05);
  torch::optim::SGD plain_optimizer(plain.module()->parameters(), 0.05);
  for (int step = 0; step < 4; ++step) {
    viewed_optimizer.zero_grad();
    plain_optimizer.zero_grad();
    loss_of(viewed.forward(mine.images), mine.labels).backward();
    loss_of(plain.forward(mine.images), mine.labels).backward();
    expect_close(gradients_of(*viewed.module()), gradients_of(*plain.module()), 1e-5);
    viewed_optimizer.step();
    plain_optimizer.step();
  }
}

struct WordsImpl : torch::nn::Module {
  explicit WordsImpl(bool sparse)
      : table(register_module(
            "table", torch::nn::Embedding(torch::nn::EmbeddingOptions(10, 3).sparse(sparse)))) {}
  torch::Tensor forward(const torch::Tensor& words) {
    return layer->forward(table->forward(words));
  }
  torch::nn::Embedding table;
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(3, 1));
};
TORCH_MODULE(Words);

TEST(DdpOptions, SparseGradientsOfEmbeddingsAreAveraged) {
  if (backend == "nccl") GTEST_SKIP() << "NCCL does not sum sparse tensors";
  torch::manual_seed(2);
  DistributedDataParallel dense(here(Words(false)), *world);
  torch::manual_seed(2);
  DistributedDataParallel sparse(here(Words(true)), *world);
  // Some words are on several ranks, and some twice on one.
  const torch::Tensor words =
      here(torch::tensor({world->rank(), world->rank() + 1, 7, 7}, torch::kLong));
  for (int step = 0; step < 3; ++step) {
    dense.module()->zero_grad();
    for (torch::Tensor& parameter : sparse.module()->parameters()) parameter.mutable_grad().reset();
    dense.forward(words).square().sum().backward();
    sparse.forward(words).square().sum().backward();
    const torch::Tensor found = sparse.module()->table->weight.grad();
    EXPECT_TRUE(found.is_sparse());
    EXPECT_TRUE(found.to_dense().allclose(dense.module()->table->weight.grad(), 1e-5, 1e-6));
    EXPECT_TRUE(sparse.module()->layer->weight.grad().allclose(dense.module()->layer->weight.grad(),
                                                               1e-5, 1e-6));
  }
}

TEST(DdpOptions, BuffersOfTypeBoolAreRankZeros) {
  struct Masked : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return layer->forward(x * mask); }
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(3, 1));
    torch::Tensor mask = register_buffer(
        "mask", here(torch::tensor({world->rank() == 0, world->rank() != 0, true}, torch::kBool)));
  };
  DistributedDataParallel ddp(here(std::make_shared<Masked>()), *world);
  const torch::Tensor expected = here(torch::tensor({true, false, true}, torch::kBool));
  EXPECT_TRUE(ddp.module()->mask.equal(expected));
  ddp.module()->mask[1] = world->rank() != 0;
  ddp.forward(here(torch::ones({1, 3}))).sum().backward();
  EXPECT_TRUE(ddp.module()->mask.equal(expected));
}

TEST(DdpOptions, ParametersAndBuffersMayHaveTypesThatGlooCannotAdd) {
  struct Small : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return (weight * x).sum() + counts.sum() * 0; }
    torch::Tensor weight = register_parameter(
        "weight", here(torch::full({4}, world->rank() + 1.0, torch::kBFloat16)).requires_grad_());
    torch::Tensor counts =
        register_buffer("counts", here(torch::full({2}, world->rank(), torch::kShort)));
  };
  DistributedDataParallel ddp(here(std::make_shared<Small>()), *world);
  EXPECT_TRUE(ddp.module()->weight.detach().equal(here(torch::ones({4}, torch::kBFloat16))));
  EXPECT_TRUE(ddp.module()->counts.equal(here(torch::zeros({2}, torch::kShort))));
  for (int step = 0; step < 2; ++step) {
    ddp.module()->zero_grad();
    ddp.forward(here(torch::full({4}, world->rank() + 1.0, torch::kBFloat16))).backward();
    const double mean = (world->world_size() + 1) / 2.0;
    EXPECT_TRUE(ddp.module()->weight.grad().equal(here(torch::full({4}, mean, torch::kBFloat16))));
  }
}

TEST(DdpOptions, TheModuleCanBeChangedThroughTheWrapper) {
  DistributedDataParallel ddp(here(torch::nn::Linear(2, 2)), *world);
  ddp.module()->eval();
  EXPECT_FALSE(ddp.module()->is_training());
  std::stringstream file;
  torch::save(ddp.module(), file);
  torch::nn::init::zeros_(ddp.module()->weight);
  torch::load(ddp.module(), file);
  EXPECT_GT(ddp.module()->weight.abs().sum().item<float>(), 0);
}

}  // namespace
}  // namespace hpcboot
