#pragma once

#include <filesystem>
#include <optional>

namespace hpcboot {

/// How many CPUs' time the control groups of this process may use, in whole CPUs, at least 1: the
/// smallest quota of the group and those around it (cgroups(7): cpu.max of version 2,
/// cpu.cfs_quota_us of version 1). More threads would be stopped for a part of each period. nullopt
/// if there is no limit.
/// @param root where /proc and /sys are
std::optional<int> cpus_of_quota(const std::filesystem::path& root = "/");

}  // namespace hpcboot
