#include "loop/agreement.hpp"

#include <torch/types.h>

#include <algorithm>

#include "loop/stop_request.hpp"

namespace hpcboot::train {
namespace {

constexpr double kPeriod = 0.5;  // seconds
// Steps may become slower after the ranks have agreed on a number of them.
constexpr std::int64_t kMostSteps = 64;

constexpr std::size_t kTime = kStopSignals.size();
constexpr std::size_t kCheckpoint = kTime + 1;
constexpr std::size_t kSeconds = kTime + 2;
constexpr std::size_t kWritten = kTime + 3;
constexpr std::size_t kNumbers = kTime + 4;

std::int64_t steps_of_a_period(double step_seconds) {
  if (step_seconds <= kPeriod / static_cast<double>(kMostSteps)) return kMostSteps;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kPeriod / step_seconds));
}

}  // namespace

std::string StopFlags::reason() const {
  return signal != 0 ? name_of_stop_signal(signal) : "time limit";
}

StopFlags Agreement::ask(const StopFlags& own, double step_seconds, bool now) {
  if (communicator_.size() == 1) return own;
  if (--steps_left_ > 0 && !now) return {};
  std::array<double, kNumbers> numbers{};
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) numbers[i] = own.signal == kStopSignals[i];
  numbers[kWritten] = own.written;
  // Only rank 0's clock counts, so that the sum is the same number on every rank.
  if (communicator_.is_first()) {
    numbers[kTime] = own.time_is_up;
    numbers[kCheckpoint] = own.checkpoint;
    numbers[kSeconds] = step_seconds;
  }
  communicator_.sum(torch::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())},
                                     torch::kFloat64));
  steps_left_ = steps_of_a_period(numbers[kSeconds]);
  StopFlags all;
  for (std::size_t i = 0; i < kStopSignals.size() && all.signal == 0; ++i) {
    if (numbers[i] > 0) all.signal = kStopSignals[i];
  }
  all.time_is_up = numbers[kTime] > 0;
  all.checkpoint = numbers[kCheckpoint] > 0;
  all.written = numbers[kWritten] >= communicator_.size();
  return all;
}

}  // namespace hpcboot::train
