#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "loop/communicator.hpp"

namespace hpcboot::train {

/// What one rank, or all together, want to be done after a step.
struct StopFlags {
  int signal = 0;           ///< one of kStopSignals has come; 0: none
  bool time_is_up = false;  ///< --time-limit
  bool checkpoint = false;  ///< a checkpoint by the clock is due

  bool stop() const { return signal != 0 || time_is_up; }
  /// Why, as run.json has it: "signal TERM", "time limit".
  std::string reason() const;
};

/// How all ranks come to the same decision: signals reach them at different steps and clocks
/// differ, while a save, or a stop, has to be after one and the same step.
///
/// An all-reduce of a few numbers would do it after every step, for some 0.1 ms, which is a percent
/// and more of a small model's step. So ranks ask each other about twice a second only, on steps
/// that all of them know: at each time they also agree on how many steps later the next time is,
/// from rank 0's duration of a step. Steps longer than that are asked after each. So a signal is
/// known half a second, or a step, after it came. (To send the flags along with the losses would be
/// free, but these wait for ten steps, however slow.)
class Agreement {
 public:
  explicit Agreement(Communicator& communicator) : communicator_(communicator) {}

  /// After every step, on all ranks. Collective where it is time to ask.
  /// @param now ask in any case; the same on all ranks
  /// @return what any rank wants; nothing where it was not asked
  StopFlags ask(const StopFlags& own, double step_seconds, bool now);

 private:
  Communicator& communicator_;
  std::int64_t steps_left_ = 1;  // until the next time; the first step is one
};

}  // namespace hpcboot::train
