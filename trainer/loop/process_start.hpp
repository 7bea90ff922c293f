#pragma once

#include <chrono>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot::train {

/// When the kernel started this process, possibly long before main(), since LibTorch is loaded in
/// between; the current time if /proc does not report it.
std::chrono::steady_clock::time_point start_of_this_process();

/// When the launch of this process began on this host: the start of the nearest ancestor process
/// without the launch's variables, such as mpirun, slurmstepd or an agent of `hpcboot run`. For a
/// process without a launcher it is the start of the process itself; likewise for a single process
/// under a launcher, whose ancestor may be an interactive shell, and for every rank but rank 0,
/// since only rank 0's value is recorded.
/// @param env, facts of this process
/// @param me the result of resolve() for them
std::chrono::steady_clock::time_point start_of_launch(const Env& env, const Facts& facts,
                                                      const Resolution& me);

}  // namespace hpcboot::train
