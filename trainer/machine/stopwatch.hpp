#pragma once

#include <torch/types.h>

#include <functional>

#include "loop/communicator.hpp"
#include "machine/bench_result.hpp"

namespace hpcboot::machine {

/// Measures equal operations for a while.
class Stopwatch {
 public:
  /// @param seconds for each operation that is measured, about
  Stopwatch(torch::Device device, double seconds) : device_(device), seconds_(seconds) {}

  /// Runs the operation to warm up, and then again and again; on CUDA devices until queued work is
  /// done. Five times at least, or three if once takes longer than the seconds for all.
  Timing measure(const std::function<void()>& operation) const;

  /// The same, with every rank doing as many operations. Collective.
  Timing measure_together(const std::function<void()>& operation, train::Communicator& ranks) const;

 private:
  double time_of(const std::function<void()>& operation, std::int64_t times) const;
  Timing measure(const std::function<void()>& operation, double once) const;

  torch::Device device_;
  double seconds_;
};

}  // namespace hpcboot::machine
