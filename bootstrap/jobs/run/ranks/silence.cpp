#include "silence.hpp"

#include <algorithm>

namespace hpcboot::run {
namespace {

// Longer than a busy machine delays a check.
constexpr std::chrono::seconds kStopped{3};

}  // namespace

bool SilenceWatch::is_over(Clock::time_point now) {
  const auto passed = now - last_look_.value_or(now);
  last_look_ = now;
  if (!limit_ || !last_sign_) return false;
  // Not beyond `now`: a sign may have arrived since this process was continued.
  if (passed > kStopped) last_sign_ = std::min(now, *last_sign_ + passed);
  return now - *last_sign_ >= *limit_;
}

std::string silence_text(std::chrono::seconds limit) {
  return "no rank has written anything for " + std::to_string(limit.count()) + " s";
}

Error silence_error(std::chrono::seconds limit) {
  return Error(
      ErrorCode::deadline_exceeded, silence_text(limit),
      "output from at least one rank every " + std::to_string(limit.count()) + " s (--silence)",
      "find the rank whose stack differs from those of the waiting ranks; if the ranks were "
      "still computing, raise --silence");
}

}  // namespace hpcboot::run
