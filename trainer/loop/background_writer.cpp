#include "loop/background_writer.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

BackgroundWriter::BackgroundWriter() : thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::start(std::function<void()> job) {
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
