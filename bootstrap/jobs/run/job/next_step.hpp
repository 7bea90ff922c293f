#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "jobs/run/ranks/run_end.hpp"

namespace hpcboot::run {

// What is known about a job when its run has ended.
struct EndOfJob {
  RunEnd run;
  std::chrono::seconds lasted{0};                // duration of the run
  std::optional<std::chrono::seconds> walltime;  // of the whole job; nullopt: no limit, or unknown
  std::chrono::seconds warning{0};               // before the end of the walltime
  bool is_torchrun = false;                      // torchrun ends with 1 whatever its ranks end with
  bool is_ending = false;                        // as in JobState
  bool is_preempted = false;
  int attempts_in_vain = 0;  // before this one, in a row
  int retries = 3;           // how many of them may be queued again
};

struct NextStep {
  bool is_queued_again = false;
  int attempts_in_vain = 0;  // including this one, if queued again
  std::string reason;        // a clause for users; empty if there is nothing to report
};

// A job is queued again if its program stopped cleanly (exit code 46), if a host was lost, or if
// it was preempted and the scheduler does not requeue it; not if its end was requested, and not
// endlessly without progress.
NextStep next_step(const EndOfJob& end);

}  // namespace hpcboot::run
