#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace hpcboot::train {

/// How often a run saves a checkpoint.
struct CheckpointInterval {
  enum class Unit { epochs, steps, minutes };
  std::int64_t count = 1;  ///< 0: never automatically
  Unit unit = Unit::epochs;
};

/// "2e" or "2" is every two epochs, "500s" every 500 steps, "10m" every ten minutes, "0" never.
/// @throws UsageError
CheckpointInterval parse_checkpoint_interval(std::string_view text);

/// A duration as schedulers write a walltime: "90" seconds, "90s", "30m", "2h", "MM:SS",
/// "HH:MM:SS".
/// @throws UsageError if it is not a duration, or not above 0
std::chrono::seconds parse_time_limit(std::string_view text);

}  // namespace hpcboot::train
