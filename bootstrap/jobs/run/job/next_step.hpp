#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "jobs/run/ranks/run_end.hpp"

namespace hpcboot::run {

// What is known of a job when its run has ended.
struct EndOfJob {
  RunEnd run;
  std::chrono::seconds lasted{0};                // the run
  std::optional<std::chrono::seconds> walltime;  // of the whole job; nullopt: no limit, or unknown
  std::chrono::seconds warning{0};               // before its end
  bool is_torchrun = false;                      // which ends with 1 whatever its ranks end with
  bool is_ending = false;                        // as JobState has them
  bool is_preempted = false;
  int attempts_in_vain = 0;  // before this one, in a row
  int retries = 3;           // so many of them are queued again
};

struct NextStep {
  bool is_queued_again = false;
  int attempts_in_vain = 0;  // now, if it is
  std::string reason;        // a clause for people; empty if there is nothing to say
};

// A job is queued again if its program stopped in order, with exit code 46, if a host was lost, or
// if it was preempted and nobody else does it; not if somebody asked for its end, and not for ever
// without progress.
NextStep next_step(const EndOfJob& end);

}  // namespace hpcboot::run
