#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

// Times reported by other programs. The clock counts nanoseconds in 64 bits, up to the year 2262:
// the sum of a time and a limit must stay below that.
namespace hpcboot {

using WallTime = std::chrono::system_clock::time_point;

/// The longest walltime: 68 years. A longer one means no limit.
constexpr std::chrono::seconds kLongestWalltime{std::numeric_limits<std::int32_t>::max()};

/// Seconds since 1970, in the year 2106.
constexpr std::int64_t kEndOfWallTime = std::int64_t{1} << 32U;

/// @param seconds since 1970. @return nullopt if at most 0, or at least kEndOfWallTime
inline std::optional<WallTime> wall_time_of(std::int64_t seconds) {
  if (seconds <= 0 || seconds >= kEndOfWallTime) return std::nullopt;
  return WallTime(std::chrono::seconds(seconds));
}

}  // namespace hpcboot
