#include "loop/validation.hpp"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "loop/parallel_model.hpp"

namespace hpcboot::train {
namespace {

/// Ones, in batches that are ready when so many are in preparation at once, or after a minute.
class SamplesOfThreads : public data::Samples {
 public:
  SamplesOfThreads(std::int64_t count, int threads) : Samples(count), threads_(threads) {}

  void fill(const data::BatchOrder& order, data::Batch& batch) const override {
    batch.size = order.size;
    batch.parts.resize(2);
    for (data::BatchPart& part : batch.parts) {
      std::fill_n(part.resize<float>(record::DType::f32, {order.size, 1}), order.size, 1.0F);
    }
    std::unique_lock<std::mutex> lock(mutex_);
    most_ = std::max(most_, ++preparing_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::minutes(1), [&] { return most_ >= threads_; });
    --preparing_;
  }
  std::string kind() const override { return "ones"; }
  std::string checksum() const override { return ""; }

  int most() const { return most_; }

 private:
  const int threads_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int preparing_ = 0;
  mutable int most_ = 0;
};

struct OneWeight : models::Model {
  OneWeight() { layer_ = register_module("layer", torch::nn::Linear(1, 1)); }
  torch::Tensor forward(models::Inputs inputs) override { return layer_(inputs[0]); }

 private:
  torch::nn::Linear layer_ = nullptr;
};

/// Its measure is the number of samples.
class Counting : public tasks::Task {
 public:
  explicit Counting(std::unique_ptr<const data::Samples> validation)
      : Task(std::make_unique<SamplesOfThreads>(1, 1), std::move(validation)) {}

  std::shared_ptr<models::Model> make_model() const override {
    return std::make_shared<OneWeight>();
  }
  torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& target) const override {
    return torch::mse_loss(output, target);
  }
  torch::Tensor tally(const torch::Tensor& output, const torch::Tensor& /*target*/) const override {
    return torch::full({1}, output.size(0), torch::kFloat64);
  }
  std::vector<record::Measure> measures(const torch::Tensor& tally) const override {
    return {{"samples", tally.item<double>()}};
  }
  std::map<std::string, std::string> metadata() const override { return {}; }
};

TEST(Validation, LoadsBatchesWithTheThreadsOfTheOption) {
  constexpr int kThreads = 6;
  auto samples = std::make_unique<SamplesOfThreads>(31, kThreads);
  const SamplesOfThreads& seen = *samples;
  const Counting task(std::move(samples));
  Communicator communicator(Resolution{}, std::nullopt);
  ParallelModel model({}, task, "single", {torch::Device(torch::kCPU)}, communicator);
  const auto result =
      validate(model, task, 4, kThreads, communicator, [](double) { return false; });
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(seen.most(), kThreads);
  EXPECT_EQ(result->measures.front().value, 31);
}

}  // namespace
}  // namespace hpcboot::train
