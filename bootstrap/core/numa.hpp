#pragma once

#include <optional>
#include <string>
#include <vector>

// NUMA distance of accelerators from CPUs, read from sysfs.
namespace hpcboot {

// The CPUs that this process may run on.
std::vector<int> cpus_of_this_process();

// The distance of every accelerator from the nearest of `cpus` (10 is local, as in the firmware's
// table), in order of PCI addresses, which is the order of CUDA and HIP if all devices are alike.
// Counts NVIDIA devices if there are any, else AMD, else Intel: a server's console is a display
// adapter too. nullopt if the kernel does not report distances, as on a machine with a single NUMA
// node.
// @param sysfs the sysfs mount point, normally /sys
std::optional<std::vector<int>> device_distances(const std::string& sysfs,
                                                 const std::vector<int>& cpus);

}  // namespace hpcboot
