#pragma once

#include <string>
#include <vector>

namespace hpcboot {

// A core, with the requested subset of its hardware threads.
struct Core {
  int numa_node = 0;
  std::vector<int> cpus;  // Linux CPU numbers, ascending; never empty
};

// The cores of these CPUs, ordered by NUMA node: adjacent cores share a node, while CPUs with
// adjacent numbers may not. Read from sysfs; a CPU without an entry counts as a core of node 0.
// @param sysfs the sysfs mount point, normally /sys
std::vector<Core> cores_of(const std::string& sysfs, const std::vector<int>& cpus);

// The share of one of `ranks` ranks: adjacent whole cores, or single hardware threads if there are
// fewer cores than ranks. Empty if there are too few threads as well.
std::vector<Core> share_of_cores(const std::vector<Core>& cores, int local_rank, int ranks);

}  // namespace hpcboot
