#include "machine/stopwatch.hpp"

#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/median.hpp"
#include "loop/devices.hpp"

namespace hpcboot::machine {
namespace {

constexpr double kSample = 2e-3;  // seconds: well above what a clock and a synchronisation take
constexpr int kWarmUps = 4;       // the last one is an estimate
constexpr int kFewest = 5;        // samples
constexpr int kFewestSlow = 3;    // of an operation that alone takes longer than all samples shall
constexpr int kMost = 1000;

}  // namespace

double Stopwatch::time_of(const std::function<void()>& operation, std::int64_t times) const {
  train::wait_for(device_);
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < times; ++i) operation();
  train::wait_for(device_);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(times);
}

/// @param once an estimate of the time of one operation, equal on all ranks
Timing Stopwatch::measure(const std::function<void()>& operation, double once) const {
  const double known = std::max(once, 1e-9);
  const auto times = static_cast<std::int64_t>(std::max(1.0, std::ceil(kSample / known)));
  const double sample = known * static_cast<double>(times);
  const int fewest = known > seconds_ ? kFewestSlow : kFewest;
  const int samples = std::clamp(static_cast<int>(std::min(seconds_ / sample, 1e6)), fewest, kMost);
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) seconds.push_back(time_of(operation, times));
  const auto [low, high] = std::minmax_element(seconds.begin(), seconds.end());
  return {median(seconds), *low, *high, samples};
}

Timing Stopwatch::measure(const std::function<void()>& operation) const {
  // The first may load libraries, so it says nothing about the next ones.
  double once = time_of(operation, 1);
  for (int i = 1; i < kWarmUps && (i == 1 || once <= seconds_); ++i) once = time_of(operation, 1);
  return measure(operation, once);
}

Timing Stopwatch::measure_together(const std::function<void()>& operation,
                                   train::Communicator& ranks) const {
  for (int i = 1; i < kWarmUps; ++i) operation();
  auto once = torch::tensor({time_of(operation, 3)}, torch::kFloat64);
  ranks.broadcast(once);  // all ranks need the same numbers of operations
  return measure(operation, once.item<double>());
}

}  // namespace hpcboot::machine
