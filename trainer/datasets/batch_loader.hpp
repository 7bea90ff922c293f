#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "datasets/samples.hpp"

namespace hpcboot::data {

struct LoaderOptions {
  int threads = 1;  ///< workers that prepare batches
  /// Batches that may be ready or in preparation ahead of next(); by default, one for each thread
  /// and three more.
  std::optional<int> prefetch = std::nullopt;
  bool drop_last = false;  ///< drop a last batch that is not full
  int epoch = 1;           ///< from 1, for BatchOrder
  /// Called on a worker, 0, 1, …, after each batch that it has prepared, with the time at which it
  /// started to; may be empty.
  std::function<void(int worker, std::chrono::steady_clock::time_point begin)> prepared = {};
};

/// Prepares the batches of one epoch on worker threads, in the order of the indices, while the
/// caller trains on the previous batch. For use by one thread; may be destroyed at any time.
class BatchLoader {
 public:
  /// Batch k holds the samples indices[k * batch_size ...]. They must outlive the loader.
  /// Throws std::invalid_argument if a size or an option is not positive.
  BatchLoader(const Samples& samples, std::vector<std::int64_t> indices, std::int64_t batch_size,
              const LoaderOptions& options = {});
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Puts the next batch into `batch` and returns true, or returns false after the last. The memory
  /// that `batch` held is reused for a later batch, so nothing that refers to it, such as a tensor
  /// from torch::from_blob, may still be in use.
  /// Rethrows what a worker threw on this batch, and does so again on every later call.
  bool next(Batch& batch);

  /// Batches in the epoch.
  std::int64_t batches() const noexcept { return batches_; }
  /// Seconds that the last next() waited for a worker.
  double wait_seconds() const noexcept { return wait_seconds_; }
  /// Seconds that all calls of next() have waited together.
  double total_wait_seconds() const noexcept { return total_wait_seconds_; }

 private:
  /// Holds batch k, at index k % prefetch, until next() takes it.
  struct Slot {
    Batch batch;
    std::exception_ptr failure;
    bool ready = false;
  };

  void work(int worker);
  void stop() noexcept;

  const Samples& samples_;
  const std::vector<std::int64_t> indices_;
  const std::int64_t batch_size_;
  const std::int64_t batches_;
  const int epoch_;
  const std::function<void(int, std::chrono::steady_clock::time_point)> prepared_;
  double wait_seconds_ = 0;
  double total_wait_seconds_ = 0;

  std::mutex mutex_;  // guards what follows, up to workers_
  std::condition_variable slot_is_ready_;
  std::condition_variable slot_is_free_;
  std::vector<Slot> slots_;
  std::int64_t next_to_prepare_ = 0;
  std::int64_t next_to_take_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace hpcboot::data
