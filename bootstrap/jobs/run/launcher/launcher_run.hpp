#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "jobs/run/job/walltime_clock.hpp"
#include "jobs/run/plan/plan.hpp"
#include "jobs/run/ranks/run_end.hpp"
#include "rendezvous/handover.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// A run whose ranks are started by an MPI launcher.
struct LauncherRun {
  const Plan& plan;
  const rendezvous::Handover& handover;
  std::string address;                               // of this host that the ranks reach it at
  std::optional<std::chrono::seconds> silence = {};  // RunRequest::silence
  // Of the walltime: the ranks get SIGUSR1 once it is due; nullptr: there is none.
  const WalltimeClock* clock = nullptr;
};

// Starts the launcher of a plan without agents, and stays until it has ended. The ranks' parents
// (`hpcboot run-rank`) report to this process, and get from it the signals that it gets.
// @param err for what this says of the run
// @return with the first failing rank's exit code, else the launcher's
// @throws Error
RunEnd run_launcher(const LauncherRun& run, Terminal& err);

}  // namespace hpcboot::run
