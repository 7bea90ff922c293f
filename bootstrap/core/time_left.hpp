#pragma once

#include <algorithm>
#include <chrono>

namespace hpcboot {

// What is left until a deadline, rounded up, but never less than `least`: to several calls no time
// is a mistake, or no limit.
inline std::chrono::milliseconds time_left(
    std::chrono::steady_clock::time_point end,
    std::chrono::milliseconds least = std::chrono::milliseconds(1)) {
  return std::max(
      least, std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
}

}  // namespace hpcboot
