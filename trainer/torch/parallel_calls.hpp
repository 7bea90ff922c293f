#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hpcboot {

/// Calls a function on several threads at once, with numbers counted from 0: number 0 on the
/// calling thread, every other number always on its own thread, so that LibTorch's per-thread state
/// (its OpenMP team, CUDA handles) is created once.
class ParallelCalls {
 public:
  /// @param most the largest count that will be passed to run()
  explicit ParallelCalls(std::size_t most);
  ~ParallelCalls();
  ParallelCalls(const ParallelCalls&) = delete;
  ParallelCalls& operator=(const ParallelCalls&) = delete;

  /// Returns when all calls have returned; rethrows the exception of the lowest number.
  void run(std::size_t count, const std::function<void(std::size_t)>& call);

 private:
  void work(std::size_t number);

  std::mutex mutex_;  // guards the members below, up to failures_
  std::condition_variable begin_;
  std::condition_variable end_;
  const std::function<void(std::size_t)>* call_ = nullptr;
  std::vector<bool> wanted_;  ///< numbers whose call is due and has not started
  std::size_t unfinished_ = 0;
  bool stopping_ = false;
  std::vector<std::exception_ptr> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace hpcboot
