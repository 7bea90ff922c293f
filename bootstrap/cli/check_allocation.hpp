#pragma once

#include <string>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/job_check.hpp"

// What the job was given, beside where its ranks came from. A launcher that ignores the allocation
// starts all ranks on one host, and everything else is right then.
namespace hpcboot::tool {

// @param hosts_of_ranks the host of each rank
// @return the hosts of the job that no rank came from. Nothing if a rank came from a host that is
// not of the allocation: then its names are of another network, or the launch is of another job.
std::vector<JobProblem> idle_hosts(const std::vector<std::string>& hosts_of_ranks,
                                   const Allocation& job);

// Hosts that have more ranks than they have slots.
std::vector<JobProblem> crowded_hosts(const std::vector<std::string>& hosts_of_ranks,
                                      const Allocation& job);

}  // namespace hpcboot::tool
