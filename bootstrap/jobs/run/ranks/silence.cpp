#include "silence.hpp"

#include <algorithm>

namespace hpcboot::run {
namespace {

// More than a busy machine keeps from a look.
constexpr std::chrono::seconds kStopped{3};

}  // namespace

bool SilenceWatch::is_over(Clock::time_point now) {
  const auto passed = now - last_look_.value_or(now);
  last_look_ = now;
  if (!limit_ || !last_sign_) return false;
  // At most to now: a sign may have come since this process goes on.
  if (passed > kStopped) last_sign_ = std::min(now, *last_sign_ + passed);
  return now - *last_sign_ >= *limit_;
}

std::string silence_text(std::chrono::seconds limit) {
  return "no rank has written anything for " + std::to_string(limit.count()) + " s";
}

Error silence_error(std::chrono::seconds limit) {
  return Error(
      ErrorCode::deadline_exceeded, silence_text(limit),
      "output of any rank at least every " + std::to_string(limit.count()) + " s (--silence)",
      "look in the stacks for the rank that is not where the others wait; if the ranks were "
      "at work, give them more time");
}

}  // namespace hpcboot::run
