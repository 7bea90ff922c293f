#pragma once

#include <chrono>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot::train {

/// When the kernel started this process, of which loading LibTorch may be a good part; now where
/// /proc does not tell.
std::chrono::steady_clock::time_point start_of_this_process();

/// When the launch of this process began on this host: the start of the nearest process above it
/// that had none of the launch's variables yet, such as mpirun, slurmstepd or an agent of
/// `hpcboot run`. Of a process that no launcher started it is the process's own start; also of one
/// alone under a launcher, since that may be a shell that somebody types into; and of every rank
/// but the first, whose is the only one that is recorded.
/// @param env, facts of this process
/// @param me what resolve() made of them
std::chrono::steady_clock::time_point start_of_launch(const Env& env, const Facts& facts,
                                                      const Resolution& me);

}  // namespace hpcboot::train
