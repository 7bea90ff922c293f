#pragma once

#include <string>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/job_check.hpp"

// Compares the job's allocation with the hosts of its ranks. A launcher that ignores the allocation
// starts all ranks on one host, and nothing else reveals it.
namespace hpcboot::tool {

// @param hosts_of_ranks the host of each rank
// @return the hosts of the job that no rank arrived from; nothing if a rank arrived from a host
// outside the allocation: then its names belong to another network, or the launch to another job.
std::vector<JobProblem> idle_hosts(const std::vector<std::string>& hosts_of_ranks,
                                   const Allocation& job);

// Hosts with more ranks than slots.
std::vector<JobProblem> crowded_hosts(const std::vector<std::string>& hosts_of_ranks,
                                      const Allocation& job);

}  // namespace hpcboot::tool
