#pragma once

#include <algorithm>
#include <chrono>

namespace hpcboot {

// The time left until a deadline, rounded up, but at least `least`: several calls take zero for an
// error or for no limit.
inline std::chrono::milliseconds time_left(
    std::chrono::steady_clock::time_point end,
    std::chrono::milliseconds least = std::chrono::milliseconds(1)) {
  return std::max(
      least, std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
}

}  // namespace hpcboot
