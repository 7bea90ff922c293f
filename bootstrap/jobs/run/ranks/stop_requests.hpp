#pragma once

#include "event_loop.hpp"

namespace hpcboot::run {

// The meaning of a signal that asks `hpcboot run` to end.
enum class StopMeaning { first, repeated, second };

// Interprets SIGINT, SIGTERM and SIGHUP as they arrive. An immediate repetition belongs to the same
// request: `timeout` signals its child and then the group. SIGHUP is never a second request: when a
// terminal closes, both the kernel and the shell send one, and Flux's broker sends one together
// with the SIGTERM of a cancelled job.
class StopRequests {
 public:
  StopMeaning take(int signal, Clock::time_point now);
  bool is_asked() const { return signal_ != 0; }

 private:
  int signal_ = 0;  // the last one; 0: none yet
  Clock::time_point last_;
};

}  // namespace hpcboot::run
