// What trains on a GPU, compared with the same on the CPU. Each test is skipped without a GPU.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "datasets/batch_loader.hpp"
#include "hpcboot/torch/data_parallel.hpp"
#include "hpcboot/torch/grad_scaler.hpp"
#include "hpcboot/torch/precision.hpp"
#include "loop/batch_tensors.hpp"
#include "loop/fused_optimizers.hpp"
#include "loop/optimizer.hpp"
#include "loop/train_step.hpp"
#include "loop/training_tensors.hpp"
#include "tasks/image_classification.hpp"

namespace hpcboot::train {
namespace {

const torch::Device kCpu(torch::kCPU);
const torch::Device kGpu(torch::kCUDA, 0);

struct Gpu : testing::Test {
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "LibTorch sees no CUDA device";
    use_precision(Precision::fp32, kGpu);
  }
};

torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size) {
  return tasks::images_of(pixels, image_size, data::mnist_normalization());
}

double largest_difference(const torch::Tensor& found, const torch::Tensor& expected) {
  return (found.to(kCpu, torch::kFloat64) - expected.to(kCpu, torch::kFloat64))
      .abs()
      .max()
      .item<double>();
}

torch::Tensor random_pixels(std::int64_t count, std::int64_t size) {
  return torch::randint(256, {count, 1, size, size}, torch::kUInt8);
}

/// A model, and the steps that train it.
struct Training {
  Training(const TrainOptions& options, torch::Device device, std::int64_t batch,
           const std::string& mode = "single", std::size_t replicas = 1)
      : communicator(Resolution{}, std::nullopt),
        task(tasks::make_task(options, device)),
        model((torch::manual_seed(7), options), *task, mode, {replicas, device}, communicator),
        step(model, *task, options, {batch, batch, batch}, /*steps_per_epoch=*/100,
             static_cast<int>(replicas), nullptr) {}

  Communicator communicator;
  std::unique_ptr<tasks::Task> task;
  ParallelModel model;
  TrainStep step;
};

/// The losses of steps on the same random pairs of sequences.
std::vector<double> sequence_losses(Training& training, int steps) {
  std::vector<double> losses;
  const torch::Device device = training.model.device();
  for (int step = 0; step < steps; ++step) {
    torch::manual_seed(static_cast<std::uint64_t>(100 + step));
    const torch::Tensor source = torch::randn({8, 2, 64}, torch::kFloat64);
    const torch::Tensor target = torch::randn({8, 5, 64}, torch::kFloat64);
    const tasks::Example example = training.task->prepare({source.to(device), target.to(device)});
    losses.push_back(training.step.run(example.inputs, example.target, step).item<double>());
  }
  return losses;
}

TrainOptions options_for(const std::string& model, const std::string& precision) {
  TrainOptions options;
  options.model = model;
  options.data = "synthetic:16x1x28x28";
  options.precision = precision;
  options.optimization.lr = 1e-3;
  return options;
}

/// The losses of steps on the same random batches.
std::vector<double> losses_of(Training& training, int steps, std::int64_t batch,
                              std::int64_t size) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    torch::manual_seed(static_cast<std::uint64_t>(100 + step));
    const torch::Tensor pixels = random_pixels(batch, size);
    const torch::Tensor labels = torch::randint(10, {batch}, torch::kInt64);
    const torch::Device device = training.model.device();
    losses.push_back(training.step.run(images_of(pixels, size).to(device), labels.to(device), step)
                         .item<double>());
  }
  return losses;
}

void expect_same_losses(const TrainOptions& options, int steps, std::int64_t batch,
                        std::int64_t size, double tolerance) {
  TrainOptions reference = options;
  if (options.precision != "fp64") reference.precision = "fp32";
  use_precision(precision_of(options.precision), kGpu);
  Training gpu(options, kGpu, batch);
  Training cpu(reference, kCpu, batch);
  const auto found = losses_of(gpu, steps, batch, size);
  const auto expected = losses_of(cpu, steps, batch, size);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance) << "step " << i;
  }
}

TEST_F(Gpu, MakesTheLoadersImagesFromPixels) {
  for (const std::int64_t size : {28, 32, 128, 11}) {
    const torch::Tensor pixels = random_pixels(5, 28);
    EXPECT_LT(largest_difference(images_of(pixels.to(kGpu), size), images_of(pixels, size)), 1e-5)
        << size;
  }
}

TEST_F(Gpu, ABatchMayBeReusedAtOnce) {
  TrainOptions options;
  options.data = "synthetic:4096x1x64x64";
  options.image_size = 64;
  const auto task = tasks::make_task(options, kGpu);
  std::vector<std::int64_t> indices(4096);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  data::BatchLoader loader(task->train_samples(), indices, 4096);
  data::Batch batch;
  ASSERT_TRUE(loader.next(batch));
  std::vector<std::uint8_t>& pixels = batch.parts[0].bytes;
  ASSERT_EQ(batch.parts[0].type, record::DType::u8);
  const torch::Tensor busy = torch::rand({4096, 4096}, kGpu);
  for (int i = 0; i < 20; ++i) busy.matmul(busy);  // so that the copy has to wait
  const torch::Tensor expected =
      torch::from_blob(pixels.data(), {4096, 1, 64, 64}, torch::kUInt8).clone();
  const tasks::Example example = example_of(batch, *task, kGpu, torch::kFloat32);
  std::fill(pixels.begin(), pixels.end(), std::uint8_t{0});
  EXPECT_LT(largest_difference(example.inputs[0], images_of(expected, 64)), 1e-5);
}

TEST_F(Gpu, TrainsAsTheCpuDoes) {
  expect_same_losses(options_for("mnistnet", "fp64"), 6, 16, 28, 1e-10);
  expect_same_losses(options_for("mnistnet", "fp32"), 6, 16, 28, 1e-4);
  expect_same_losses(options_for("resnet50", "fp64"), 2, 16, 64, 1e-6);
}

TEST_F(Gpu, TrainsVisionTransformersAsTheCpuDoes) {
  TrainOptions options = options_for("vit_ti_16", "fp64");
  options.image_size = 32;
  expect_same_losses(options, 3, 8, 32, 1e-8);
  options.precision = "fp32";
  expect_same_losses(options, 3, 8, 32, 1e-3);
}

TEST_F(Gpu, TrainsTransformersAsTheCpuDoes) {
  TrainOptions options = options_for("transformer_small", "fp64");
  options.task = "transformer";
  options.data = "sequences:8x2x5x64";
  options.image_size = 0;
  use_precision(Precision::fp64, kGpu);
  Training gpu(options, kGpu, 8);
  Training cpu(options, kCpu, 8);
  const auto found = sequence_losses(gpu, 4);
  const auto expected = sequence_losses(cpu, 4);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8);
}

TEST_F(Gpu, TrainsInLowerPrecision) {
  for (const char* precision : {"tf32", "bf16", "fp16"}) {
    SCOPED_TRACE(precision);
    auto options = options_for("mnistnet", precision);
    options.initial_scale_power = 10;  // so that no step overflows
    expect_same_losses(options, 6, 64, 28, 0.03);
  }
}

TEST_F(Gpu, EachOptimizerStepsAsOnTheCpu) {
  for (const char* name : {"adam", "adamw", "sgd"}) {
    SCOPED_TRACE(name);
    auto options = options_for("mnistnet", "fp64");
    options.optimization.optimizer = name;
    options.optimization.momentum = 0.9;
    options.optimization.weight_decay = 0.1;
    options.optimization.clip_grad_norm = 0.5;
    expect_same_losses(options, 6, 16, 28, 1e-10);
  }
}

TEST_F(Gpu, Tf32IsUsedIfAskedFor) {
  torch::manual_seed(1);
  const torch::Tensor a = torch::randn({512, 512}, kGpu);
  const torch::Tensor exact = a.to(torch::kFloat64).matmul(a.to(torch::kFloat64));
  const auto error = [&] {
    return (a.matmul(a) - exact).norm().item<double>() / exact.norm().item<double>();
  };
  EXPECT_LT(error(), 1e-6);
  use_precision(Precision::tf32, kGpu);
  if (error() < 1e-6) GTEST_SKIP() << "this GPU does not have TF32";
  EXPECT_GT(error(), 1e-5);
  EXPECT_LT(error(), 1e-2);
}

TEST_F(Gpu, AnOverflowInFp16SkipsTheStep) {
  auto options = options_for("mnistnet", "fp16");
  options.initial_scale_power = 40;
  Training training(options, kGpu, 16);
  const torch::Tensor before = training.model.model().parameters().front().clone();
  losses_of(training, 1, 16, 28);
  EXPECT_EQ(training.step.skipped_steps(), 1);
  EXPECT_TRUE(training.model.model().parameters().front().equal(before));
  EXPECT_EQ(training.step.scaler()->scale(), std::ldexp(1.0, 39));
}

/// @param tolerance of the losses
void expect_recorded_as_plain(TrainOptions options, double tolerance) {
  options.initial_scale_power = 12;
  options.scale_growth_interval = 3;  // the graph must read the scale of each step
  Training plain(options, kGpu, 16);
  options.cuda_graph = true;
  Training recorded(options, kGpu, 16);
  // The third time, the batches are smaller than the recorded ones.
  for (const std::int64_t batch : {16, 16, 6, 16}) {
    const auto expected = losses_of(plain, 3, batch, 28);
    const auto found = losses_of(recorded, 3, batch, 28);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance);
  }
  EXPECT_EQ(recorded.step.skipped_steps(), plain.step.skipped_steps());
}

TEST_F(Gpu, ARecordedPassTrainsAsThePass) {
  if (!has_cuda_graphs()) GTEST_SKIP() << "this LibTorch has no CUDA graphs";
  for (const auto& [precision, tolerance] : std::map<std::string, double>{
           {"fp64", 1e-10}, {"fp32", 1e-4}, {"bf16", 0.02}, {"fp16", 0.02}}) {
    SCOPED_TRACE(precision);
    expect_recorded_as_plain(options_for("mnistnet", precision), tolerance);
  }
}

TEST_F(Gpu, ARecordedPassKeepsTheStatisticsOfBatchNorms) {
  if (!has_cuda_graphs()) GTEST_SKIP() << "this LibTorch has no CUDA graphs";
  auto options = options_for("resnet50", "fp64");
  options.optimization.lr = 1e-5;  // rounding grows from step to step
  expect_recorded_as_plain(options, 1e-6);
}

TEST_F(Gpu, ReplicasTrainAsOneModel) {
  const auto options = options_for("mnistnet", "fp64");
  Training alone(options, kGpu, 15);
  Training together(options, kGpu, 15, "dp", 2);
  const auto expected = losses_of(alone, 4, 15, 28);
  const auto found = losses_of(together, 4, 15, 28);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-10);
}

TEST_F(Gpu, StateMovesBetweenGpuAndCpu) {
  const auto options = options_for("mnistnet", "fp64");
  Training gpu(options, kGpu, 16);
  Training cpu(options, kCpu, 16);
  losses_of(gpu, 3, 16, 28);
  restore_training_tensors(training_tensors(gpu.model.model(), gpu.step.optimizer()),
                           cpu.model.model(), cpu.step.optimizer(), "a test");
  const auto found = losses_of(cpu, 3, 16, 28);
  const auto expected = losses_of(gpu, 3, 16, 28);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-10);
}

}  // namespace
}  // namespace hpcboot::train
