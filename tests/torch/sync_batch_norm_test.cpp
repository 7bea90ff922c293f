// Batch normalisation over the ranks of a launch.
#include "hpcboot/torch/sync_batch_norm.hpp"

#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/adam.h>
#include <torch/types.h>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "models/model.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

constexpr std::int64_t kChannels = 5;

/// Sets the parameters to values other than the initial ones, so that a wrong use of them shows.
template <typename Norm>
Norm prepared(Norm norm) {
  const torch::NoGradGuard no_grad;
  norm->weight.copy_(torch::linspace(0.5, 2, kChannels));
  norm->bias.copy_(torch::linspace(-1, 1, kChannels));
  return here(norm);
}

struct Part {
  std::int64_t begin;
  std::int64_t count;
};

/// The samples of a rank: `counts` repeats over the ranks.
Part part_of(int rank, const std::vector<std::int64_t>& counts) {
  const auto count_of = [&](int r) { return counts[static_cast<std::size_t>(r) % counts.size()]; };
  Part part{0, count_of(rank)};
  for (int r = 0; r < rank; ++r) part.begin += count_of(r);
  return part;
}

class SyncBatchNorm : public testing::TestWithParam<std::vector<std::int64_t>> {};

/// @param sizes of the input, without batch and channels
template <typename Synchronized, typename Plain>
void expect_same_as_one_process(const std::vector<std::int64_t>& counts,
                                const std::vector<std::int64_t>& sizes) {
  SCOPED_TRACE(testing::Message() << sizes.size() << " dimensions beside batch and channels");
  const Part of_last = part_of(world->world_size() - 1, counts);
  const std::int64_t total = of_last.begin + of_last.count;
  std::vector<std::int64_t> shape{total, kChannels};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  torch::manual_seed(3);
  // With a mean far from 0, for which sums of squares would lose the variance.
  const torch::Tensor input = here(torch::randn(shape)) * 2 + 10;
  const torch::Tensor slope = here(torch::randn(shape));

  const torch::Tensor whole_input = input.clone().set_requires_grad(true);
  auto whole = prepared(Plain(kChannels));
  const torch::Tensor whole_output = whole->forward(whole_input);
  (whole_output * slope).sum().backward();

  const Part mine = part_of(world->rank(), counts);
  const torch::Tensor own_input =
      input.narrow(0, mine.begin, mine.count).clone().set_requires_grad(true);
  auto synchronised = prepared(Synchronized(kChannels));
  EXPECT_EQ(synchronize_batch_norms(*synchronised, *world), 1U);
  const torch::Tensor own_output = synchronised->forward(own_input);
  (own_output * slope.narrow(0, mine.begin, mine.count)).sum().backward();

  const auto expect_close = [](const torch::Tensor& found, const torch::Tensor& expected,
                               const char* what) {
    EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-5))
        << what << ": " << (found - expected).abs().max();
  };
  if (mine.count > 0) {
    expect_close(own_output, whole_output.narrow(0, mine.begin, mine.count), "output");
    expect_close(own_input.grad(), whole_input.grad().narrow(0, mine.begin, mine.count),
                 "gradient of the input");
  }
  torch::Tensor of_weight = synchronised->weight.grad().clone();
  torch::Tensor of_bias = synchronised->bias.grad().clone();
  all_reduce(*world, of_weight).wait();
  all_reduce(*world, of_bias).wait();
  expect_close(of_weight, whole->weight.grad(), "gradient of the weight");
  expect_close(of_bias, whole->bias.grad(), "gradient of the bias");
  expect_close(synchronised->running_mean, whole->running_mean, "running mean");
  expect_close(synchronised->running_var, whole->running_var, "running variance");
  EXPECT_EQ(synchronised->num_batches_tracked.template item<std::int64_t>(), 1);
}

TEST_P(SyncBatchNorm, ComputesWhatOneProcessDoesOnTheWholeBatch) {
  expect_same_as_one_process<BatchNorm2d, torch::nn::BatchNorm2d>(GetParam(), {3, 4});
  expect_same_as_one_process<BatchNorm1d, torch::nn::BatchNorm1d>(GetParam(), {6});
  expect_same_as_one_process<BatchNorm3d, torch::nn::BatchNorm3d>(GetParam(), {2, 3, 2});
  expect_same_as_one_process<BatchNorm1d, torch::nn::BatchNorm1d>(GetParam(), {});
}

// Equal parts, parts of different size, and a rank without samples.
INSTANTIATE_TEST_SUITE_P(Parts, SyncBatchNorm,
                         testing::Values(std::vector<std::int64_t>{4},
                                         std::vector<std::int64_t>{3, 1},
                                         std::vector<std::int64_t>{4, 0, 2}));

TEST(SyncBatchNormModel, ResNet50OverTheRanksEqualsOneProcess) {
  constexpr int kSteps = 3;
  constexpr std::int64_t kBatch = 8;
  // In double precision: with such a small batch, a fresh ResNet amplifies the rounding of float32
  // so much that the number of threads alone changes the losses by more than the tolerance here.
  torch::manual_seed(5);
  const torch::Tensor images = here(torch::randn({kSteps * kBatch, 1, 32, 32}, torch::kFloat64));
  const torch::Tensor labels = here(torch::randint(10, {kSteps * kBatch}, torch::kLong));
  const auto train = [&](auto&& forward, const models::Model& model, std::int64_t begin,
                         std::int64_t count) {
    torch::optim::Adam optimizer(model.parameters(), 1e-4);
    std::vector<double> losses;
    for (int step = 0; step < kSteps; ++step) {
      optimizer.zero_grad();
      const std::int64_t first = step * kBatch + begin;
      const torch::Tensor loss = torch::nn::functional::cross_entropy(
          forward(images.narrow(0, first, count)), labels.narrow(0, first, count));
      loss.backward();
      optimizer.step();
      losses.push_back(loss.item<double>());
    }
    return losses;
  };

  torch::manual_seed(9);
  const auto single = here(models::make_model("resnet50"));
  single->to(torch::kFloat64);
  const std::vector<double> expected =
      train([&](const torch::Tensor& x) { return single->forward(x); }, *single, 0, kBatch);

  torch::manual_seed(9);
  const auto model = here(models::make_model("resnet50"));
  model->to(torch::kFloat64);
  EXPECT_EQ(synchronize_batch_norms(*model, *world), 53U);
  DistributedDataParallel ddp(model, *world);
  const std::int64_t local = kBatch / world->world_size();
  std::vector<double> losses = train([&](const torch::Tensor& x) { return ddp.forward(x); }, *model,
                                     world->rank() * local, local);
  torch::Tensor mean = here(torch::tensor(losses, torch::kFloat64)) / world->world_size();
  all_reduce(*world, mean).wait();
  for (int step = 0; step < kSteps; ++step) {
    const double reference = expected[static_cast<std::size_t>(step)];
    EXPECT_NEAR(mean[step].item<double>(), reference, 1e-3 * reference) << "step " << step;
  }
}

TEST(SyncBatchNormModel, InEvaluationRanksAreAlone) {
  auto norm = prepared(BatchNorm2d(kChannels));
  auto plain = prepared(torch::nn::BatchNorm2d(kChannels));
  norm->synchronize(*world);
  norm->eval();
  plain->eval();
  const torch::Tensor input = here(torch::full({1, kChannels, 2, 2}, 3.0));
  // On rank 0 only: any collective would hang here.
  if (world->rank() == 0) {
    EXPECT_TRUE(norm->forward(input).equal(plain->forward(input)));
  }
}

template <typename Model>
void expect_refused(Model&& model, const std::string& layer) {
  try {
    synchronize_batch_norms(*model, *world);
    FAIL() << "a layer stays unsynchronised";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_model_use);
    EXPECT_NE(error.found().find("'1' is a torch::nn::" + layer + "Impl"), std::string::npos)
        << error.found();
  }
}

TEST(SyncBatchNormModel, ALayerOfLibTorchIsNamedAndRefused) {
  using torch::nn::Sequential;
  expect_refused(Sequential(BatchNorm2d(3), torch::nn::BatchNorm1d(3)), "BatchNorm1d");
  expect_refused(Sequential(BatchNorm2d(3), torch::nn::BatchNorm2d(3)), "BatchNorm2d");
  expect_refused(Sequential(BatchNorm2d(3), torch::nn::BatchNorm3d(3)), "BatchNorm3d");
}

TEST(SyncBatchNormModel, AnInputOfOtherDimensionsIsRefused) {
  EXPECT_THROW(BatchNorm1d(3)->forward(torch::zeros({2, 3, 4, 4})), c10::Error);
  EXPECT_THROW(BatchNorm2d(3)->forward(torch::zeros({2, 3, 4})), c10::Error);
  EXPECT_THROW(BatchNorm3d(3)->forward(torch::zeros({2, 3, 4, 4})), c10::Error);
}

}  // namespace
}  // namespace hpcboot
