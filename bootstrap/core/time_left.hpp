#pragma once

#include <algorithm>
#include <chrono>

namespace hpcboot {

// A deadline that can be added to the time of a clock: one of more than a hundred years is cut,
// since the clock counts only 292 years and an end beyond them would be in the past.
// @param least instead of a shorter or negative one: several calls take zero for no limit
inline std::chrono::milliseconds cut_deadline(
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds least = std::chrono::milliseconds(0)) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(100 * 365 * 24);
  return std::clamp(deadline, least, kLongest);
}

// When a deadline that begins now ends. A negative one has already ended.
inline std::chrono::steady_clock::time_point end_after(std::chrono::milliseconds deadline) {
  return std::chrono::steady_clock::now() + cut_deadline(deadline);
}

// The time left until a deadline, rounded up, but at least `least`: several calls take zero for an
// error or for no limit.
inline std::chrono::milliseconds time_left(
    std::chrono::steady_clock::time_point end,
    std::chrono::milliseconds least = std::chrono::milliseconds(1)) {
  return std::max(
      least, std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
}

}  // namespace hpcboot
