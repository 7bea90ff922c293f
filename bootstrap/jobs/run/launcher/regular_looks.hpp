#pragma once

#include <chrono>

#include "jobs/run/ranks/event_loop.hpp"

namespace hpcboot::run {

// For what `run` looks at once a second.
class RegularLooks {
 public:
  bool is_due(Clock::time_point now) {
    if (now < next_) return false;
    was_stopped_ = now > next_ + kOfStop;
    next_ = now + kBetween;
    return true;
  }
  // Was this process stopped before the look that is due? Then no patience has been used up.
  bool was_stopped() const { return was_stopped_; }

 private:
  static constexpr std::chrono::seconds kBetween{1};
  static constexpr std::chrono::seconds kOfStop{5};  // a longer pause

  Clock::time_point next_{};
  bool was_stopped_ = false;
};

}  // namespace hpcboot::run
