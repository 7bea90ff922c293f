#include "numa.hpp"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>

#include "core/classic.hpp"
#include "core/first_line.hpp"
#include "hpcboot/env.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  return entries;
}

// PCI addresses in sysfs form ("0000:07:00.0") sort as strings.
using NodesByAddress = std::map<std::string, int>;

// Class 03 is a display or 3D controller, 12 a processing accelerator.
bool is_accelerator(const fs::path& device) {
  const std::string kind = first_line(device / "class");
  return kind.rfind("0x03", 0) == 0 || kind.rfind("0x12", 0) == 0;
}

NodesByAddress accelerators(const fs::path& sysfs) {
  std::map<std::string, NodesByAddress> by_vendor;
  for (const fs::path& device : entries_of(sysfs / "bus/pci/devices")) {
    if (!is_accelerator(device)) continue;
    const auto node = parse_whole_number(first_line(device / "numa_node"));
    by_vendor[first_line(device / "vendor")][device.filename().string()] =
        static_cast<int>(node.value_or(-1));
  }
  for (const char* vendor : {"0x10de", "0x1002", "0x8086"}) {
    if (by_vendor.count(vendor) != 0) return by_vendor[vendor];
  }
  return {};
}

// `cpulist` has the form "0-3,8".
bool holds_any(const std::string& cpulist, const std::vector<int>& cpus) {
  std::istringstream ranges(cpulist);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const auto first = parse_whole_number(range.substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : parse_whole_number(range.substr(dash + 1));
    if (first && last && std::any_of(cpus.begin(), cpus.end(), [&](int cpu) {
          return cpu >= *first && cpu <= *last;
        }))
      return true;
  }
  return false;
}

}  // namespace

std::vector<int> cpus_of_this_process() {
  constexpr std::size_t kMost = 8192;
  cpu_set_t* set = CPU_ALLOC(kMost);
  const std::size_t size = CPU_ALLOC_SIZE(kMost);
  std::vector<int> cpus;
  if (set != nullptr && sched_getaffinity(0, size, set) == 0) {
    for (std::size_t cpu = 0; cpu < kMost; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(static_cast<int>(cpu));
    }
  }
  CPU_FREE(set);
  return cpus;
}

std::optional<std::vector<int>> device_distances(const std::string& sysfs,
                                                 const std::vector<int>& cpus) {
  std::map<int, fs::path> nodes;  // by number: the columns of "distance" follow this order
  for (const fs::path& entry : entries_of(fs::path(sysfs) / "devices/system/node")) {
    const std::string name = entry.filename().string();
    const auto number =
        name.rfind("node", 0) == 0 ? parse_whole_number(name.substr(4)) : std::nullopt;
    if (number) nodes[static_cast<int>(*number)] = entry;
  }
  std::map<int, int> distance_to;
  for (const auto& [own, folder] : nodes) {
    if (!holds_any(first_line(folder / "cpulist"), cpus)) continue;
    Classic<std::istringstream> words(first_line(folder / "distance"));
    for (const auto& node : nodes) {
      int distance = 0;
      if (!(words >> distance)) break;
      const auto known = distance_to.emplace(node.first, distance).first;
      known->second = std::min(known->second, distance);
    }
  }
  std::vector<int> distances;
  for (const auto& [address, node] : accelerators(sysfs)) {
    const auto known = distance_to.find(node);
    if (known == distance_to.end()) return std::nullopt;
    distances.push_back(known->second);
  }
  if (distances.empty()) return std::nullopt;
  return distances;
}

}  // namespace hpcboot
