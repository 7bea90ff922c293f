#pragma once

#include "granted.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Deals the ranks: --ranks-per-node and -n, else what was granted.
// @throws Error{malformed_value} for a --ranks-per-node that is no number, gpu, numa or core;
//         Error{inconsistent_placement} for more ranks than granted, and uneven torchruns
Layout lay_out(const RunRequest& request, const Surroundings& s, Granted granted);

// The CPUs of a host shared among its ranks, on the host where they are fewest, but no more than
// the scheduler gives a rank; at least 1.
int threads_per_rank(const Layout& layout, const Surroundings& s, const Granted& granted);

}  // namespace hpcboot::run
