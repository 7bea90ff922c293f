#pragma once

#include "granted.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Distributes the ranks: by --ranks-per-node and -n, otherwise as granted.
// @throws Error{malformed_value} if --ranks-per-node is not a number, gpu, numa or core;
//         Error{inconsistent_placement} for more ranks than granted, and for uneven torchruns
Layout lay_out(const RunRequest& request, const Surroundings& s, Granted granted);

// CPUs per rank on the host with the fewest, but not more than the scheduler gives a rank; at least
// 1.
int threads_per_rank(const Layout& layout, const Surroundings& s, const Granted& granted);

}  // namespace hpcboot::run
