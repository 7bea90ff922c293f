#pragma once

#include <chrono>
#include <optional>

#include "event_loop.hpp"
#include "hpcboot/error.hpp"

// `hpcboot run --silence`: no rank has written anything for so long. One that speaks is enough:
// many programs print on rank 0 alone, and in a collective that hangs nobody does.
namespace hpcboot::run {

// From the first line about it, for the stacks of all ranks; then they are told to end.
inline constexpr std::chrono::seconds kTimeForStacks{60};

class SilenceWatch {
 public:
  // @param limit nullopt: any silence is allowed
  explicit SilenceWatch(std::optional<std::chrono::seconds> limit) : limit_(limit) {}

  // A rank has started, or written something.
  void note_sign(Clock::time_point now) { last_sign_ = now; }
  // Has there been no sign for the whole limit, since the first one? To be called once a second:
  // what lies further apart is time in which this process was stopped, and does not count.
  bool is_over(Clock::time_point now);

 private:
  std::optional<std::chrono::seconds> limit_;
  std::optional<Clock::time_point> last_sign_;
  std::optional<Clock::time_point> last_look_;
};

// "no rank has written anything for 600 s"
std::string silence_text(std::chrono::seconds limit);
// How such a run ends: deadline_exceeded.
Error silence_error(std::chrono::seconds limit);

}  // namespace hpcboot::run
