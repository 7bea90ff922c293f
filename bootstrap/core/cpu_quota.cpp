#include "core/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/classic.hpp"
#include "core/first_line.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

/// CPUs: the quota of a group over its period; nullopt for none.
std::optional<double> ratio(const std::string& quota_and_period) {
  double quota = 0;
  double period = 0;
  Classic<std::istringstream> in(quota_and_period);  // "max" and -1 mean none
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_of(const fs::path& group, bool is_version_2) {
  if (is_version_2) return ratio(first_line(group / "cpu.max"));
  return ratio(first_line(group / "cpu.cfs_quota_us") + " " +
               first_line(group / "cpu.cfs_period_us"));
}

/// Of the group and those around it. In a container, the mounted tree may begin further down than
/// the path says: folders that do not exist have no quota.
std::optional<double> smallest_quota(const fs::path& mount, fs::path path, bool is_version_2) {
  std::optional<double> smallest;
  for (;; path = path.parent_path()) {
    const auto quota = quota_of(mount / path.relative_path(), is_version_2);
    if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
    if (!path.has_relative_path()) return smallest;
  }
}

bool lists_cpu(const std::string& controllers) {
  std::istringstream in(controllers);
  for (std::string one; std::getline(in, one, ',');) {
    if (one == "cpu") return true;
  }
  return false;
}

}  // namespace

std::optional<int> cpus_of_quota(const fs::path& root) {
  std::optional<double> smallest;
  std::ifstream groups(root / "proc/self/cgroup");
  // "0::/user.slice", or "4:cpu,cpuacct:/docker/3f2a" of version 1
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_version_2 = controllers.empty();
    if (!is_version_2 && !lists_cpu(controllers)) continue;
    const fs::path mounts = root / "sys/fs/cgroup";
    for (const fs::path& mount : {is_version_2 ? mounts : mounts / controllers,
                                  mounts / (is_version_2 ? "unified" : "cpu")}) {
      const auto quota = smallest_quota(mount, line.substr(second + 1), is_version_2);
      if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
    }
  }
  if (!smallest) return std::nullopt;
  constexpr double kMost = 1e6;
  return static_cast<int>(std::clamp(*smallest, 1.0, kMost));
}

}  // namespace hpcboot
