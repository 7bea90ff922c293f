#pragma once

#include "control.hpp"
#include "jobs/run/ranks/silence.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// `--silence` under an MPI launcher, where the ranks' output does not pass through `run`: it asks
// the parents of the ranks from time to time. The ranks are silent if a question after the whole
// limit yields no sign.
class SilenceOfRanks {
 public:
  SilenceOfRanks(Control& control, std::optional<std::chrono::seconds> limit);

  // Call once a second. @return whether the ranks must be told to end now
  bool look(Clock::time_point now, Terminal& err);
  // Were all ranks silent? Then the run is ending.
  bool has_come() const { return stacks_until_.has_value(); }
  // @throws Error{deadline_exceeded} if has_come()
  void throw_if_come() const;

 private:
  bool is_silent(Clock::time_point now);

  Control& control_;
  std::optional<std::chrono::seconds> limit_;
  SilenceWatch watch_;
  Clock::time_point asked_at_;
  bool is_last_question_ = false;
  std::optional<Clock::time_point> stacks_until_;
  bool is_told_ = false;
};

}  // namespace hpcboot::run
