#include "datasets/batch_loader.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace hpcboot::data {
namespace {

/// So many batches are ready if all threads are busy, in case that one takes longer.
constexpr int kReadyBatches = 3;

std::int64_t count_batches(std::size_t samples, std::int64_t batch_size, bool drop_last) {
  if (batch_size <= 0) throw std::invalid_argument("BatchLoader: batch_size is not positive");
  const auto total = static_cast<std::int64_t>(samples);
  return drop_last ? total / batch_size : (total + batch_size - 1) / batch_size;
}

}  // namespace

BatchLoader::BatchLoader(const Samples& samples, std::vector<std::int64_t> indices,
                         std::int64_t batch_size, const LoaderOptions& options)
    : samples_(samples),
      indices_(std::move(indices)),
      batch_size_(batch_size),
      batches_(count_batches(indices_.size(), batch_size, options.drop_last)),
      epoch_(options.epoch),
      prepared_(options.prepared) {
  const int prefetch = options.prefetch.value_or(options.threads + kReadyBatches);
  if (options.threads <= 0 || prefetch <= 0) {
    throw std::invalid_argument("BatchLoader: threads and prefetch must be positive");
  }
  slots_.resize(static_cast<std::size_t>(prefetch));
  try {
    for (int i = 0; i < options.threads; ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (...) {  // no more threads can be started: the destructor will not run
    stop();
    throw;
  }
}

BatchLoader::~BatchLoader() {
  stop();
}

void BatchLoader::stop() noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  slot_is_free_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void BatchLoader::work(int worker) {
  const auto prefetch = static_cast<std::int64_t>(slots_.size());
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    slot_is_free_.wait(lock, [&] {
      return stopping_ || next_to_prepare_ >= batches_ ||
             next_to_prepare_ < next_to_take_ + prefetch;
    });
    if (stopping_ || next_to_prepare_ >= batches_) return;
    const std::int64_t number = next_to_prepare_++;
    // Only this worker uses the slot until it is marked ready.
    Slot& slot = slots_[static_cast<std::size_t>(number % prefetch)];
    lock.unlock();
    const std::int64_t begin = number * batch_size_;
    const std::int64_t size =
        std::min(batch_size_, static_cast<std::int64_t>(indices_.size()) - begin);
    const auto started = std::chrono::steady_clock::now();
    try {
      samples_.fill({indices_.data() + begin, size, epoch_}, slot.batch);
      if (prepared_) prepared_(worker, started);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    lock.lock();
    slot.ready = true;
    slot_is_ready_.notify_one();
  }
}

bool BatchLoader::next(Batch& batch) {
  wait_seconds_ = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  if (next_to_take_ == batches_) return false;
  Slot& slot = slots_[static_cast<std::size_t>(next_to_take_) % slots_.size()];
  if (!slot.ready) {
    const auto start = std::chrono::steady_clock::now();
    slot_is_ready_.wait(lock, [&] { return slot.ready; });
    wait_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    total_wait_seconds_ += wait_seconds_;
  }
  if (slot.failure) std::rethrow_exception(slot.failure);
  std::swap(batch, slot.batch);
  slot.ready = false;
  ++next_to_take_;
  lock.unlock();
  slot_is_free_.notify_all();
  return true;
}

}  // namespace hpcboot::data
