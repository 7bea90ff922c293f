#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "loop/communicator.hpp"

namespace hpcboot::train {

/// What one rank, or all ranks together, request after a step.
struct StopFlags {
  int signal = 0;           ///< the one of kStopSignals that arrived; 0: none
  bool time_is_up = false;  ///< --time-limit
  bool checkpoint = false;  ///< a checkpoint by time is due
  bool written = false;     ///< this rank's part of a sharded checkpoint; of all: every rank's

  bool stop() const { return signal != 0 || time_is_up; }
  /// Why, as recorded in run.json: "signal TERM", "time limit".
  std::string reason() const;
};

/// Makes all ranks take the same decision: signals reach them at different steps and clocks differ,
/// but a save or a stop must happen after the same step everywhere.
///
/// An all-reduce of a few numbers after every step would do, at a cost of some 0.1 ms, which is one
/// percent or more of a small model's step. Therefore the ranks ask each other only about twice a
/// second, at steps that all of them know: each time they also agree on the number of steps until
/// the next time, based on rank 0's step duration. If a step takes longer than half a second, they
/// ask after each step. A signal is thus noticed within half a second, or a step. (Sending the
/// flags along with the losses would be free, but losses are collected for ten steps, however
/// slow.)
class Agreement {
 public:
  explicit Agreement(Communicator& communicator) : communicator_(communicator) {}

  /// Called after every step, on all ranks. Collective when it is time to ask.
  /// @param now ask in any case; must be the same on all ranks
  /// @return what any rank requests; nothing if it was not time to ask
  StopFlags ask(const StopFlags& own, double step_seconds, bool now);

 private:
  Communicator& communicator_;
  std::int64_t steps_left_ = 1;  // until the next time, which is the first step at the start
};

}  // namespace hpcboot::train
