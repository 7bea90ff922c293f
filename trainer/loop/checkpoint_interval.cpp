#include "loop/checkpoint_interval.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "loop/train_options.hpp"

namespace hpcboot::train {
namespace {

/// No walltime is longer, and products fit into 64 bits.
constexpr std::int64_t kLargest = 1'000'000'000;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kLargest) {
    return std::nullopt;
  }
  return value;
}

/// [HH:]MM:SS
std::optional<std::int64_t> clock(std::string_view text) {
  std::int64_t total = 0;
  for (int parts = 1; parts <= 3; ++parts) {
    const std::size_t colon = text.find(':');
    const auto part = number(text.substr(0, colon));
    if (!part || (parts > 1 && *part > 59)) return std::nullopt;
    total = total * 60 + *part;
    if (colon == std::string_view::npos) return total;
    text.remove_prefix(colon + 1);
  }
  return std::nullopt;
}

}  // namespace

CheckpointInterval parse_checkpoint_interval(std::string_view text) {
  CheckpointInterval interval;
  std::string_view digits = text;
  if (!text.empty() && (text.back() < '0' || text.back() > '9')) {
    digits.remove_suffix(1);
    switch (text.back()) {
      case 'e':
        break;
      case 's':
        interval.unit = CheckpointInterval::Unit::steps;
        break;
      case 'm':
        interval.unit = CheckpointInterval::Unit::minutes;
        break;
      default:
        digits = {};
    }
  }
  const auto count = number(digits);
  if (!count) {
    throw UsageError("--checkpoint-every is '" + std::string(text) +
                     "'; it takes a number of epochs, steps or minutes: 2e, 500s, 10m; 0: only "
                     "when the run is stopped");
  }
  interval.count = *count;
  return interval;
}

std::chrono::seconds parse_time_limit(std::string_view text) {
  std::optional<std::int64_t> seconds;
  const char unit = text.empty() ? '\0' : text.back();
  if (unit == 's' || unit == 'm' || unit == 'h') {
    seconds = number(text.substr(0, text.size() - 1));
    if (seconds) *seconds *= unit == 's' ? 1 : unit == 'm' ? 60 : 3600;
  } else {
    seconds = clock(text);
  }
  if (!seconds || *seconds == 0) {
    throw UsageError("--time-limit is '" + std::string(text) +
                     "'; it takes seconds, 30m, 2h, MM:SS or HH:MM:SS");
  }
  return std::chrono::seconds(*seconds);
}

}  // namespace hpcboot::train
