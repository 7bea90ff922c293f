#pragma once

#include <string>

namespace hpcboot::run {

// How a run ended, and what had happened before.
struct RunEnd {
  int exit_code = 0;  // of `hpcboot run`
  // The ranks got SIGUSR1, of the walltime's clock, the scheduler or a person.
  bool was_warned = false;
  // SIGINT, SIGTERM or SIGHUP, by which somebody asked for the end; 0: nobody did.
  int asked_by = 0;
  std::string lost_host;  // that died with its ranks; empty: none
};

}  // namespace hpcboot::run
