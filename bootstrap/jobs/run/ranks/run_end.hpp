#pragma once

#include <string>

namespace hpcboot::run {

// How a run ended, and what happened before.
struct RunEnd {
  int exit_code = 0;  // of `hpcboot run`
  // The ranks got SIGUSR1 from the walltime's clock, the scheduler or a user.
  bool was_warned = false;
  // The SIGINT, SIGTERM or SIGHUP that requested the end; 0: none.
  int asked_by = 0;
  std::string lost_host;  // host that died with its ranks; empty: none
};

}  // namespace hpcboot::run
