#pragma once

#include <chrono>

// Grace periods of processes, the same for every launcher and agent.
namespace hpcboot::run {

// For ranks to end cleanly after a request: SIGINT, SIGTERM or SIGHUP at `run`.
inline constexpr std::chrono::seconds kGraceOfRun{30};
// For ranks, from SIGTERM to SIGKILL, once one has failed or they are no longer needed; also for a
// launcher without ranks.
inline constexpr std::chrono::seconds kGraceToEnd{5};
// For the other ranks, once one has stopped cleanly: they may still be saving. Half of the
// remaining walltime, but at most this.
inline constexpr std::chrono::seconds kMostGraceToStop{600};

// For what a rank has started and left, such as the `tee` of its output, to write the rest once the
// rank has ended; then it is killed.
inline constexpr std::chrono::seconds kTimeForRest{1};

}  // namespace hpcboot::run
