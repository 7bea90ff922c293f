#include "loop/background_writer.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "record/disk_sync.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

BackgroundWriter::BackgroundWriter(std::chrono::milliseconds patience)
    : patience_(patience), thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::start(std::function<void()> job) {
  progress_ = record::disk_progress();
  progressed_ = Clock::now();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = std::move(job);
  }
  changed_.notify_all();
}

bool BackgroundWriter::is_idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !job_;
}

void BackgroundWriter::wait() {
  const auto begin = Clock::now();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !job_; });
  }
  waited_ += seconds_since(begin);
}

void BackgroundWriter::check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BackgroundWriter::finish() {
  wait();
  check();
}

bool BackgroundWriter::finish(std::chrono::milliseconds limit) {
  const auto begin = Clock::now();
  const std::uint64_t progress = record::disk_progress();
  if (progress != progress_) progressed_ = begin;
  progress_ = progress;
  const auto is_done = [this] { return !job_; };
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (begin - progressed_ >= patience_) {
      changed_.wait(lock, is_done);
    } else if (!changed_.wait_for(lock, limit, is_done)) {
      waited_ += seconds_since(begin);
      return false;
    }
  }
  waited_ += seconds_since(begin);
  check();
  return true;
}

double BackgroundWriter::longest_seconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return longest_;
}

void BackgroundWriter::work() {
  // The training thread handles signals.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return job_ || stopping_; });
    if (!job_) return;
    const std::function<void()> job = job_;
    lock.unlock();
    const auto begin = Clock::now();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    longest_ = std::max(longest_, seconds_since(begin));
    job_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace hpcboot::train
