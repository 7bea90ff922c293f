#pragma once

#include "granted.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Distributes the ranks: by --ranks-per-node and -n, otherwise as granted.
// @throws Error{malformed_value} if --ranks-per-node is not a number, gpu, numa or core;
//         Error{inconsistent_placement} for more ranks than granted, and for uneven torchruns
Layout lay_out(const RunRequest& request, const Surroundings& s, Granted granted);

// Has the job hosts that get no rank?
bool leaves_hosts_out(const Layout& layout, const Surroundings& s);

// "n1,n2"
std::string host_names(const std::vector<HostRanks>& hosts);

}  // namespace hpcboot::run
