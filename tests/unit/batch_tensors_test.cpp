// Runs the GPU's conversion of pixels on the CPU, and compares it with the loader's images.
#include "loop/batch_tensors.hpp"

#include <gtest/gtest.h>

#include "datasets/batch_loader.hpp"
#include "loop/step_seed.hpp"
#include "support/expect_error.hpp"
#include "tasks/image_classification.hpp"

namespace hpcboot::train {
namespace {

const torch::Device kCpu(torch::kCPU);
using Normalize = data::Normalization (*)(std::int64_t classes);

data::Normalization as_mnist(std::int64_t /*classes*/) {
  return data::mnist_normalization();
}
data::Normalization each_channel(std::int64_t /*classes*/) {
  return {{0.5F, 0.4F, 0.3F}, {0.2F, 0.3F, 0.4F}};
}

/// @param device whose conversion is wanted; a GPU's is run on the CPU
tasks::Example first_batch(const TrainOptions& options, Normalize normalization,
                           torch::Device device) {
  const tasks::ImageClassification task(options, normalization, device);
  data::BatchLoader loader(task.train_samples(), {3, 0, 4}, 3);
  data::Batch batch;
  EXPECT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.parts[0].type, device.is_cuda() ? record::DType::u8 : record::DType::f32);
  tasks::Example example = example_of(batch, task, kCpu, torch::kFloat32);
  for (torch::Tensor& input : example.inputs) input = input.clone();
  example.target = example.target.clone();
  return example;
}

void expect_same(const TrainOptions& options, Normalize normalization) {
  const tasks::Example expected = first_batch(options, normalization, kCpu);
  const tasks::Example found = first_batch(options, normalization, {torch::kCUDA, 0});
  ASSERT_EQ(found.inputs[0].sizes(), expected.inputs[0].sizes());
  EXPECT_LT((found.inputs[0] - expected.inputs[0]).abs().max().item<float>(), 1e-5F)
      << options.data << " at " << options.image_size;
  EXPECT_TRUE(found.target.equal(expected.target));
}

TEST(BatchTensors, OfTypesThatLibTorchLacksAreRefused) {
  TrainOptions options;
  options.data = "synthetic:5x1x28x28";
  const tasks::ImageClassification task(options, as_mnist, kCpu);
  data::Batch batch;
  batch.parts.resize(1);
  batch.parts[0].resize<std::uint16_t>(record::DType::u16, {1});
  test::expect_error(
      ErrorCode::invalid_model_use, [&] { example_of(batch, task, kCpu, torch::kFloat32); },
      "uint16");
}

TEST(SeedStep, GivesEachRankAndStepNumbersOfItsOwnAndTheSameAgain) {
  const auto drawn = [](std::uint64_t seed, std::int64_t step, int rank) {
    seed_step(seed, step, rank, {kCpu});
    return torch::randint(1 << 30, {4});
  };
  const torch::Tensor once = drawn(1, 5, 0);
  EXPECT_TRUE(drawn(1, 5, 0).equal(once));
  EXPECT_FALSE(drawn(1, 5, 1).equal(once));
  EXPECT_FALSE(drawn(1, 6, 0).equal(once));
  EXPECT_FALSE(drawn(2, 5, 0).equal(once));
}

TEST(BatchTensors, OfPixelsAreThoseOfImages) {
  TrainOptions options;
  for (const std::int64_t size : {28, 32, 128, 11}) {
    options.image_size = size;
    options.data = "synthetic:5x1x28x28";
    expect_same(options, as_mnist);
    options.data = "synthetic:5x3x32x20";
    expect_same(options, each_channel);
    options.augment = "crop-flip";
    options.mixup = 0.5;
    expect_same(options, each_channel);
    options.augment = "none";
    options.mixup = 0;
  }
}

TEST(BatchTensors, MixUpMixesImagesAndTheProbabilitiesOfTheirClasses) {
  TrainOptions options;
  options.data = "synthetic:5x1x28x28";
  options.image_size = 28;
  const tasks::Example plain = first_batch(options, as_mnist, kCpu);
  options.mixup = 0.8;
  const tasks::Example mixed = first_batch(options, as_mnist, kCpu);
  ASSERT_EQ(mixed.target.sizes(), (std::vector<std::int64_t>{3, 10}));
  EXPECT_TRUE(mixed.target.sum(1).allclose(torch::ones(3)));
  // The weight is what the target says of the first image's class, unless both have the same.
  const torch::Tensor others = plain.target.roll(1);
  for (std::int64_t i = 0; i < 3; ++i) {
    if (plain.target[i].equal(others[i])) continue;
    const auto weight = mixed.target[i][plain.target[i].item<std::int64_t>()].item<float>();
    const torch::Tensor expected =
        plain.inputs[0][i] * weight + plain.inputs[0][(i + 2) % 3] * (1 - weight);
    EXPECT_TRUE(mixed.inputs[0][i].allclose(expected, 1e-4, 1e-5)) << i;
  }
}

TEST(BatchTensors, FloatsAreNotScaledAgain) {
  const data::Normalization mnist = data::mnist_normalization();
  const torch::Tensor bytes = torch::arange(256).to(torch::kUInt8).view({1, 1, 16, 16});
  const torch::Tensor floats = bytes.to(torch::kFloat32) / 255;
  EXPECT_LT((tasks::images_of(floats, 16, mnist) - tasks::images_of(bytes, 16, mnist))
                .abs()
                .max()
                .item<float>(),
            1e-6F);
}

}  // namespace
}  // namespace hpcboot::train
