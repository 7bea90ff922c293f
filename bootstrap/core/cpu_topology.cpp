#include "cpu_topology.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "core/classic.hpp"
#include "hpcboot/env.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

// The folder of a CPU contains a link node0, node1, … to its NUMA node.
int node_of(const fs::path& cpu) {
  std::error_code reason;
  for (fs::directory_iterator entry(cpu, reason), end; !reason && entry != end;
       entry.increment(reason)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("node", 0) != 0) continue;
    if (const auto node = parse_whole_number(name.substr(4))) return static_cast<int>(*node);
  }
  return 0;
}

// The first thread of the CPU's core: "0,32" and "0-1" start with it.
int first_of_core(const fs::path& folder, int cpu) {
  Classic<std::ifstream> in(folder / "topology/thread_siblings_list");
  int first = 0;
  return in >> first ? first : cpu;
}

}  // namespace

std::vector<Core> cores_of(const std::string& sysfs, const std::vector<int>& cpus) {
  std::map<std::pair<int, int>, Core> cores;  // by node and first thread
  for (const int cpu : cpus) {
    const fs::path folder = fs::path(sysfs) / "devices/system/cpu" / ("cpu" + std::to_string(cpu));
    const int node = node_of(folder);
    Core& core = cores[{node, first_of_core(folder, cpu)}];
    core.numa_node = node;
    core.cpus.push_back(cpu);
  }
  std::vector<Core> all;
  for (auto& [place, core] : cores) {
    std::sort(core.cpus.begin(), core.cpus.end());
    all.push_back(std::move(core));
  }
  return all;
}

std::vector<Core> share_of_cores(const std::vector<Core>& cores, int local_rank, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto index = static_cast<std::size_t>(local_rank);
  std::vector<Core> parts = cores;
  if (count > cores.size()) {
    parts.clear();
    for (const Core& core : cores) {
      for (const int cpu : core.cpus) parts.push_back({core.numa_node, {cpu}});
    }
  }
  if (count > parts.size()) return {};
  const auto at = [&](std::size_t i) {
    return parts.begin() + static_cast<std::ptrdiff_t>(i * parts.size() / count);
  };
  return {at(index), at(index + 1)};
}

}  // namespace hpcboot
