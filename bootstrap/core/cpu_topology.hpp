#pragma once

#include <string>
#include <vector>

namespace hpcboot {

// A core, with those of its hardware threads that are asked about.
struct Core {
  int numa_node = 0;
  std::vector<int> cpus;  // as Linux numbers them, rising; never empty
};

// The cores that these CPUs are of, node by node: cores side by side share a memory, while CPUs of
// neighbouring numbers may lie on different ones. Linux tells it in sysfs; a CPU that it says
// nothing of is a core of node 0.
// @param sysfs the folder that is /sys
std::vector<Core> cores_of(const std::string& sysfs, const std::vector<int>& cpus);

// What one of `ranks` ranks gets that share them: whole cores, side by side; single hardware
// threads if there are fewer cores than ranks. Empty if there are fewer of these, too.
std::vector<Core> share_of_cores(const std::vector<Core>& cores, int local_rank, int ranks);

}  // namespace hpcboot
