#pragma once

#include <chrono>
#include <map>
#include <string>

#include "jobs/run/job/walltime_clock.hpp"
#include "jobs/run/plan/plan.hpp"
#include "jobs/run/plan/run_request.hpp"
#include "jobs/run/ranks/graces.hpp"
#include "jobs/run/ranks/run_end.hpp"

namespace hpcboot::run {

// A run whose ranks are started by agents, one on each host (has_agents()).
struct AgentRun {
  const Plan& plan;
  const RunRequest& request;
  std::string self;  // the path of the program hpcboot, the same on every host
  // Set for every rank and marked as exported: HPCBOOT_RUN_ID and the like.
  std::map<std::string, std::string> handover;
  // How long the ranks may take to end after SIGINT, SIGTERM or SIGHUP; then they are killed. After
  // a failure, a reader of the output that takes nothing for this long is no longer waited for.
  std::chrono::milliseconds grace = kGraceOfRun;
  // An agent that has sent nothing for this long is lost, and one on another host that has heard
  // nothing for this long ends its ranks. Both sides send heartbeats.
  std::chrono::milliseconds silence{30000};
  // The clock of the walltime: the ranks get SIGUSR1 once it is due; nullptr: no warning.
  const WalltimeClock* clock = nullptr;
};

// Starts the ranks and returns when all have ended; handles their output, input, signals and
// failures. Every other thread of this process must block the signals that this forwards.
// @return with the exit code: that of the first rank that failed, in the shell's form; 128 + n if
//         signal n ended the run before the ranks started, or if the reader of its output is gone
//         (SIGPIPE); that of an ErrorCode whose error was printed
RunEnd run_agents(const AgentRun& run);

}  // namespace hpcboot::run
