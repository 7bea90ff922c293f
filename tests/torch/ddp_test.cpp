// DistributedDataParallel on the ranks of a real launch: run by mpirun with 1, 2 and 4 ranks.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <memory>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "models/model.hpp"
#include "support/partly_used.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kSteps = 20;
constexpr std::int64_t kGlobalBatch = 16;
constexpr std::int64_t kImageSize = 28;
constexpr double kLearningRate = 1e-4;

struct Images {
  torch::Tensor images;
  torch::Tensor labels;

  Images part(std::int64_t begin, std::int64_t end) const {
    return {images.slice(0, begin, end), labels.slice(0, begin, end)};
  }
};

/// The same on every rank.
Images make_images() {
  torch::manual_seed(42);
  return {here(torch::randn({kSteps * kGlobalBatch, 1, kImageSize, kImageSize})),
          here(torch::randint(10, {kSteps * kGlobalBatch}, torch::kLong))};
}

/// A single process trains with the global batch.
std::vector<double> losses_of_one_process(const Images& data) {
  torch::manual_seed(7);
  const auto model = here(models::make_model("mnistnet"));
  torch::optim::Adam optimizer(model->parameters(), kLearningRate);
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) {
    const Images batch = data.part(step * kGlobalBatch, (step + 1) * kGlobalBatch);
    optimizer.zero_grad();
    const torch::Tensor loss =
        torch::cross_entropy_loss(model->forward(batch.images), batch.labels);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

/// Checks that every rank has the same gradients.
void expect_equal_gradients(const models::Model& model) {
  for (const auto& item : model.named_parameters()) {
    torch::Tensor of_rank_0 = item.value().grad().clone();
    broadcast(*world, of_rank_0).wait();
    EXPECT_TRUE(item.value().grad().equal(of_rank_0)) << item.key();
  }
}

TEST(Ddp, LossOfEveryStepEqualsOneProcessWithTheGlobalBatch) {
  const Images data = make_images();
  const std::vector<double> expected = losses_of_one_process(data);

  // Only rank 0 starts from the weights of the single process: DDP must broadcast them.
  torch::manual_seed(static_cast<std::uint64_t>(7 + world->rank()));
  DistributedDataParallel ddp(here(models::make_model("mnistnet")), *world);
  torch::optim::Adam optimizer(ddp.module()->parameters(), kLearningRate);
  const std::int64_t local_batch = kGlobalBatch / world->world_size();
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t begin = step * kGlobalBatch + world->rank() * local_batch;
    const Images batch = data.part(begin, begin + local_batch);
    optimizer.zero_grad();
    const torch::Tensor loss = torch::cross_entropy_loss(ddp.forward(batch.images), batch.labels);
    loss.backward();
    if (step == 0 || step == kSteps - 1) expect_equal_gradients(*ddp.module());
    optimizer.step();

    torch::Tensor mean = loss.detach().to(torch::kDouble) / world->world_size();
    all_reduce(*world, mean).wait();
    const double reference = expected[static_cast<std::size_t>(step)];
    EXPECT_NEAR(mean.item<double>(), reference, 1e-4 * reference) << "step " << step;
  }
  EXPECT_LT(expected.back(), 10.0);
}

TEST(Ddp, BuffersAreRankZerosAtEveryForwardInTraining) {
  DistributedDataParallel ddp(here(torch::nn::BatchNorm1d(4)), *world);
  const torch::Tensor input = here(torch::full({2, 4}, world->rank())) + here(torch::eye(2, 4));
  for (int step = 0; step < 2; ++step) ddp.forward(input).sum().backward();
  const torch::Tensor before = ddp.module()->running_mean.clone();
  ddp.forward(input).sum().backward();
  // This forward started from rank 0's mean and added this rank's own batch.
  torch::Tensor start = before.clone();
  broadcast(*world, start).wait();
  EXPECT_TRUE(torch::allclose(ddp.module()->running_mean, 0.9 * start + 0.1 * input.mean(0)));
}

TEST(Ddp, AnUnusedParameterIsAClearErrorOnEveryRank) {
  DistributedDataParallel ddp(here(std::make_shared<testing_support::PartlyUsed>()), *world);
  try {
    ddp.forward(here(torch::ones({1, 3}))).sum().backward();
    FAIL() << "the backward pass did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), HasSubstr("unused.weight, unused.bias"));
  }
}

TEST(Ddp, ModelsOfDifferentShapeAreAClearErrorOnEveryRank) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs 2 ranks to differ";
  const int last = world->world_size() - 1;
  const std::int64_t outputs = world->rank() == last ? 5 : 4;
  try {
    DistributedDataParallel ddp(here(torch::nn::Linear(3, outputs)), *world);
    FAIL() << "the models differ";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), AllOf(HasSubstr("rank " + std::to_string(last)), HasSubstr("weight"),
                                     HasSubstr("[5, 3]"), HasSubstr("[4, 3]")));
  }
}

TEST(Ddp, ModelsOfDifferentLengthAreAClearErrorOnEveryRank) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs 2 ranks to differ";
  try {
    const bool with_bias = world->rank() == 0;
    DistributedDataParallel ddp(
        here(torch::nn::Linear(torch::nn::LinearOptions(3, 4).bias(with_bias))), *world);
    FAIL() << "the models differ";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_THAT(error.found(), AllOf(HasSubstr("rank 1 has nothing more"), HasSubstr("bias")));
  }
}

TEST(Ddp, ParametersThatSomeRanksDoNotUseAreAveragedWhereAllowed) {
  DistributedDataParallelOptions options;
  options.find_unused_parameters = true;
  DistributedDataParallel ddp(here(std::make_shared<testing_support::PartlyUsed>()), *world,
                              options);
  for (int step = 1; step <= 2; ++step) {
    ddp.forward(here(torch::full({1, 3}, static_cast<double>(world->rank())))).sum().backward();
    const double mean_rank = (world->world_size() - 1) / 2.0;
    EXPECT_TRUE(torch::allclose(ddp.module()->used->weight.grad(),
                                here(torch::full({2, 3}, step * mean_rank))));
  }
}

}  // namespace
}  // namespace hpcboot
