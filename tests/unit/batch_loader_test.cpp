#include "datasets/batch_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "datasets/image_samples.hpp"

namespace hpcboot::data {
namespace {

ImageOptions of_size(std::int64_t size) {
  ImageOptions options;
  options.size = size;
  return options;
}

/// Image i is one pixel of value i % 251, labelled i % 10, repeated over size x size pixels.
ImageSamples numbered_set(std::int64_t count, std::int64_t size) {
  ImageSet set;
  set.count = count;
  set.rows = set.cols = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    set.pixels.push_back(static_cast<std::uint8_t>(i % 251));
    set.labels.push_back(static_cast<std::uint8_t>(i % 10));
  }
  return {std::make_shared<MemoryDataset>(std::move(set)), of_size(size)};
}

/// Black images whose reads wait until the test releases them.
class HeldSet : public Dataset {
 public:
  explicit HeldSet(std::int64_t count) : Dataset(count, {1, 1, 1}, PixelType::u8) {}

  void let_go() {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  /// Waits until this many images were requested. @return false after a minute
  bool await(std::int64_t asked) const {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return asked_ >= asked; });
  }

 private:
  void read_checked(const std::int64_t*, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override {
    std::unique_lock<std::mutex> lock(mutex_);
    asked_ += number;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    std::fill_n(pixels, number, std::uint8_t{0});
    std::fill_n(labels, number, std::uint8_t{0});
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::int64_t asked_ = 0;
  bool held_ = true;
};

std::vector<std::int64_t> range(std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

float value_of(std::int64_t pixel) {
  const Normalization mnist = mnist_normalization();
  return (static_cast<float>(pixel) / 255.0F - mnist.mean_of(0)) / mnist.std_of(0);
}

struct Shape {
  std::int64_t images;
  std::int64_t batch_size;
  LoaderOptions options;
  std::vector<std::int64_t> sizes;  ///< of the batches expected
};

LoaderOptions options(int threads, int prefetch, bool drop_last = false) {
  LoaderOptions options;
  options.threads = threads;
  options.prefetch = prefetch;
  options.drop_last = drop_last;
  return options;
}

TEST(BatchLoader, DeliversEveryImageInOrder) {
  for (const Shape& shape :
       {Shape{10, 4, options(1, 1), {4, 4, 2}}, Shape{10, 4, options(2, 3), {4, 4, 2}},
        Shape{10, 4, options(4, 1), {4, 4, 2}}, Shape{10, 4, options(2, 4, true), {4, 4}},
        Shape{8, 4, options(3, 2, true), {4, 4}}, Shape{8, 4, options(1, 9), {4, 4}},
        Shape{3, 4, options(2, 2), {3}}, Shape{3, 4, options(2, 2, true), {}},
        Shape{0, 4, options(2, 2), {}}}) {
    SCOPED_TRACE(std::to_string(shape.images) + " images, " +
                 std::to_string(shape.options.threads) + " threads");
    const ImageSamples set = numbered_set(shape.images, 3);
    auto indices = range(shape.images);
    std::reverse(indices.begin(), indices.end());
    BatchLoader loader(set, indices, shape.batch_size, shape.options);
    EXPECT_EQ(loader.batches(), static_cast<std::int64_t>(shape.sizes.size()));
    Batch batch;
    std::size_t seen = 0;
    for (const std::int64_t size : shape.sizes) {
      ASSERT_TRUE(loader.next(batch));
      ASSERT_EQ(batch.size, size);
      ASSERT_EQ(batch.parts.size(), 2U);
      EXPECT_EQ(batch.parts[0].shape, (std::vector<std::int64_t>{size, 1, 3, 3}));
      EXPECT_EQ(batch.parts[1].shape, std::vector<std::int64_t>{size});
      for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i, ++seen) {
        EXPECT_EQ(batch.parts[1].data<std::int64_t>()[i], indices[seen] % 10);
        for (std::size_t p = 0; p < 9; ++p) {
          EXPECT_FLOAT_EQ(batch.parts[0].data<float>()[i * 9 + p], value_of(indices[seen]));
        }
      }
    }
    EXPECT_FALSE(loader.next(batch));
    EXPECT_FALSE(loader.next(batch));
  }
}

TEST(BatchLoader, ReusesTheMemoryOfBatches) {
  const ImageSamples set = numbered_set(400, 8);
  BatchLoader loader(set, range(400), 4, options(2, 3));
  Batch batch;
  std::set<const float*> buffers;
  while (loader.next(batch)) buffers.insert(batch.parts[0].data<float>());
  EXPECT_LE(buffers.size(), 4U);  // those of three slots, and the caller's
}

TEST(BatchLoader, RethrowsWhatAWorkerThrewInItsTurn) {
  const ImageSamples set = numbered_set(10, 4);
  auto indices = range(10);
  indices[5] = 10;  // of batch 2
  BatchLoader loader(set, indices, 2, options(2, 4));
  Batch batch;
  EXPECT_TRUE(loader.next(batch));
  EXPECT_TRUE(loader.next(batch));
  EXPECT_THROW(loader.next(batch), std::out_of_range);
  EXPECT_THROW(loader.next(batch), std::out_of_range);
}

TEST(BatchLoader, EndsAtAnyMoment) {
  const ImageSamples set = numbered_set(1000, 16);
  for (int taken = 0; taken < 40; ++taken) {
    BatchLoader loader(set, range(1000), 3, options(1 + taken % 3, 1 + taken % 4));
    Batch batch;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader.next(batch));
  }
}

TEST(BatchLoader, PreparesWhileTheCallerIsBusy) {
  const auto set = std::make_shared<HeldSet>(64);
  set->let_go();
  const ImageSamples samples(set, of_size(4));
  BatchLoader loader(samples, range(64), 16, options(1, 4));
  ASSERT_TRUE(set->await(64)) << "images are read before the caller asks for them";
  // One thread reads batch after batch: those before the last are ready.
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(loader.next(batch));
    EXPECT_EQ(loader.wait_seconds(), 0.0);
  }
  EXPECT_EQ(loader.total_wait_seconds(), 0.0);
  EXPECT_TRUE(loader.next(batch));
  EXPECT_FALSE(loader.next(batch));
}

TEST(BatchLoader, KeepsAllOfItsThreadsBusy) {
  constexpr int kThreads = 16;
  const auto set = std::make_shared<HeldSet>(64);
  const ImageSamples samples(set, of_size(4));
  LoaderOptions loading;
  loading.threads = kThreads;
  BatchLoader loader(samples, range(64), 2, loading);
  EXPECT_TRUE(set->await(kThreads * std::int64_t{2})) << "each thread prepares a batch";
  set->let_go();
}

TEST(BatchLoader, ReportsHowLongItWaited) {
  const auto set = std::make_shared<HeldSet>(4);
  const ImageSamples samples(set, of_size(4));
  BatchLoader loader(samples, range(4), 4, options(1, 1));
  Batch batch;
  std::promise<void> asks;
  const auto held = std::async(std::launch::async, [&] {
    asks.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // in which the caller asks
    set->let_go();
  });
  const auto start = std::chrono::steady_clock::now();
  asks.set_value();
  ASSERT_TRUE(loader.next(batch));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(loader.wait_seconds(), 0.0);
  EXPECT_LE(loader.wait_seconds(), elapsed.count());
  EXPECT_EQ(loader.total_wait_seconds(), loader.wait_seconds());
  EXPECT_FALSE(loader.next(batch));
  EXPECT_EQ(loader.wait_seconds(), 0.0);
}

TEST(BatchLoader, RefusesInvalidSizes) {
  const ImageSamples set = numbered_set(4, 4);
  EXPECT_THROW(BatchLoader(set, range(4), 0), std::invalid_argument);
  EXPECT_THROW(numbered_set(4, 0), std::invalid_argument);
  EXPECT_THROW(BatchLoader(set, range(4), 2, options(0, 1)), std::invalid_argument);
  EXPECT_THROW(BatchLoader(set, range(4), 2, options(1, 0)), std::invalid_argument);
}

}  // namespace
}  // namespace hpcboot::data
