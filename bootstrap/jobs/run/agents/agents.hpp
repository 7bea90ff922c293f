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
  // Set on every rank, and marked as exported: HPCBOOT_RUN_ID and the like.
  std::map<std::string, std::string> handover;
  // For the ranks to end after SIGINT, SIGTERM or SIGHUP; then they are killed.
  std::chrono::milliseconds grace = kGraceOfRun;
  // An agent of which nothing was heard for this long is lost; it speaks once a second.
  std::chrono::milliseconds silence{30000};
  // Of the walltime: the ranks get SIGUSR1 once it is due; nullptr: there is none.
  const WalltimeClock* clock = nullptr;
};

// Starts the ranks and stays until all have ended: their output, input, signals and failures. Every
// other thread of this process has to have the signals blocked that this hands on.
// @return with the exit code: of the first rank that failed, as a shell has it; 128 + n where
// signal n
//         ended the run before the ranks were there, or where nobody reads its output (SIGPIPE);
//         of an ErrorCode, which was printed
RunEnd run_agents(const AgentRun& run);

}  // namespace hpcboot::run
