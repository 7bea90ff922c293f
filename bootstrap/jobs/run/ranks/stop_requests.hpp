#pragma once

#include "event_loop.hpp"

namespace hpcboot::run {

// What a signal that asks `hpcboot run` to end means.
enum class StopMeaning { first, repeated, second };

// SIGINT, SIGTERM and SIGHUP as they come. The same one at once is one request: `timeout` signals
// its child and then the group. Nobody insists by SIGHUP: of a terminal that closes both the kernel
// and the shell send one. Of a cancelled job Flux's broker sends one beside the SIGTERM.
class StopRequests {
 public:
  StopMeaning take(int signal, Clock::time_point now);
  bool is_asked() const { return signal_ != 0; }

 private:
  int signal_ = 0;  // the last one; 0: none yet
  Clock::time_point last_;
};

}  // namespace hpcboot::run
