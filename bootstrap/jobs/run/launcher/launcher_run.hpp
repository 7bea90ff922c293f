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
  std::string address;                               // at which the ranks reach this host
  std::chrono::seconds timeout;                      // RunRequest::timeout
  std::optional<std::chrono::seconds> silence = {};  // RunRequest::silence
  // The clock of the walltime: the ranks get SIGUSR1 once it is due; nullptr: no warning.
  const WalltimeClock* clock = nullptr;
};

// Starts the launcher of a plan without agents and returns when it has ended. The ranks' parents
// (`hpcboot run-rank`) report to this process, which forwards its signals to them.
// @param err for messages about the run
// A launcher that does not end within the timeout after all ranks is terminated.
// @return with the exit code of the first failed rank, otherwise that of the launcher
// @throws Error
RunEnd run_launcher(const LauncherRun& run, Terminal& err);

}  // namespace hpcboot::run
