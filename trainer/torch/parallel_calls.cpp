#include "parallel_calls.hpp"

namespace hpcboot {

ParallelCalls::ParallelCalls(std::size_t most) : wanted_(most, false), failures_(most) {
  for (std::size_t number = 1; number < most; ++number) {
    threads_.emplace_back([this, number] { work(number); });
  }
}

ParallelCalls::~ParallelCalls() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ParallelCalls::run(std::size_t count, const std::function<void(std::size_t)>& call) {
  std::unique_lock<std::mutex> lock(mutex_);
  call_ = &call;
  unfinished_ = count - 1;
  for (std::size_t number = 0; number < count; ++number) {
    wanted_[number] = number > 0;
    failures_[number] = nullptr;
  }
  lock.unlock();
  begin_.notify_all();
  std::exception_ptr own;
  try {
    call(0);
  } catch (...) {
    own = std::current_exception();
  }
  lock.lock();
  end_.wait(lock, [this] { return unfinished_ == 0; });
  if (own) std::rethrow_exception(own);
  for (std::size_t number = 1; number < count; ++number) {
    if (failures_[number]) std::rethrow_exception(failures_[number]);
  }
}

void ParallelCalls::work(std::size_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    begin_.wait(lock, [&] { return stopping_ || wanted_[number]; });
    if (stopping_) return;
    wanted_[number] = false;
    const auto& call = *call_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      call(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[number] = failure;
    if (--unfinished_ == 0) end_.notify_one();
  }
}

}  // namespace hpcboot
