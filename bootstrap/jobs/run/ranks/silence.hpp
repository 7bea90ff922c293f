#pragma once

#include <chrono>
#include <optional>

#include "event_loop.hpp"
#include "hpcboot/error.hpp"

// `hpcboot run --silence`: no rank has written anything for that long. One rank that writes is
// enough: many programs print on rank 0 only, and in a hanging collective none does.
namespace hpcboot::run {

// For the stacks of all ranks, counted from the first message; then the ranks are told to end.
inline constexpr std::chrono::seconds kTimeForStacks{60};

class SilenceWatch {
 public:
  // @param limit nullopt: any silence is allowed
  explicit SilenceWatch(std::optional<std::chrono::seconds> limit) : limit_(limit) {}

  // A rank has started, or written something.
  void note_sign(Clock::time_point now) { last_sign_ = now; }
  // Has there been no sign for the whole limit, after a first one? Call once a second: a longer gap
  // is time in which this process was stopped and does not count.
  bool is_over(Clock::time_point now);

 private:
  std::optional<std::chrono::seconds> limit_;
  std::optional<Clock::time_point> last_sign_;
  std::optional<Clock::time_point> last_look_;
};

// "no rank has written anything for 600 s"
std::string silence_text(std::chrono::seconds limit);
// The error with which such a run ends: deadline_exceeded.
Error silence_error(std::chrono::seconds limit);

}  // namespace hpcboot::run
