#pragma once

#include <chrono>

// How long processes get, for every launcher and agent alike.
namespace hpcboot::run {

// Ranks, to end in order after somebody has asked for it: SIGINT, SIGTERM or SIGHUP at `run`.
inline constexpr std::chrono::seconds kGraceOfRun{30};
// Ranks, from SIGTERM to SIGKILL, once one has failed or nobody wants them any more; and a launcher
// without ranks.
inline constexpr std::chrono::seconds kGraceToEnd{5};
// The other ranks, once one has stopped in order: they may still save. Of the walltime half of what
// is left, at most this.
inline constexpr std::chrono::seconds kMostGraceToStop{600};

}  // namespace hpcboot::run
