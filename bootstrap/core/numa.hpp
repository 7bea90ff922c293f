#pragma once

#include <optional>
#include <string>
#include <vector>

// How far accelerators are from CPUs, as Linux tells in sysfs.
namespace hpcboot {

// The CPUs that this process may run on.
std::vector<int> cpus_of_this_process();

// For every accelerator in the order of PCI addresses, which is the order of CUDA and HIP where all
// are alike: the distance (10 is local, as in the firmware's table) from the nearest of `cpus`.
// NVIDIA's where there are any, else AMD's, else Intel's: a server's console is a display adapter,
// too. nullopt where the kernel does not tell, as on a machine of one memory.
// @param sysfs the folder that is /sys
std::optional<std::vector<int>> device_distances(const std::string& sysfs,
                                                 const std::vector<int>& cpus);

}  // namespace hpcboot
