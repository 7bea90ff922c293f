#include "monitor/host_counters.hpp"

#include <net/if_arp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hpcboot::monitor {
namespace {

namespace fs = std::filesystem;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void add(std::optional<double>& sum, double more) {
  sum = sum.value_or(0) + more;
}

void read_processors(const fs::path& root, HostCounters& counters) {
  // user nice system idle iowait irq softirq steal, in ticks (man 5 proc)
  std::array<double, 8> ticks{};
  std::string name;
  std::ifstream in(root / "proc/stat");
  in >> name;
  for (double& one : ticks) in >> one;
  if (!in || name != "cpu") return;
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  double total = 0;
  for (const double one : ticks) total += one;
  counters.total_seconds = total / per_second;
  counters.busy_seconds = (total - ticks[3] - ticks[4]) / per_second;
}

void read_process(const fs::path& root, HostCounters& counters) {
  counters.own_seconds = own_processor_seconds();
  double size = 0;
  double resident = 0;
  if (std::ifstream(root / "proc/self/statm") >> size >> resident)
    counters.resident_bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// RDMA passes the interfaces by. The counters are in units of four bytes (linux,
/// Documentation/ABI/stable/sysfs-class-infiniband).
void read_infiniband(const fs::path& root, HostCounters& counters) {
  constexpr double kUnit = 4;
  std::error_code error;
  for (const auto& adapter : fs::directory_iterator(root / "sys/class/infiniband", error)) {
    for (const auto& port : fs::directory_iterator(adapter.path() / "ports", error)) {
      double received = 0;
      double sent = 0;
      if (std::ifstream(port.path() / "counters/port_rcv_data") >> received)
        add(counters.received_bytes, kUnit * received);
      if (std::ifstream(port.path() / "counters/port_xmit_data") >> sent)
        add(counters.sent_bytes, kUnit * sent);
    }
  }
}

/// The interfaces in this network namespace that this one passes its traffic to: the parent of a
/// VLAN, the members of a bond or a bridge.
std::vector<std::string> interfaces_below(const fs::path& interfaces, const std::string& name) {
  constexpr std::string_view kLower = "lower_";
  std::vector<std::string> below;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(interfaces / name, error)) {
    const std::string file = entry.path().filename().string();
    if (file.compare(0, kLower.size(), kLower) == 0) below.push_back(file.substr(kLower.size()));
  }
  return below;
}

/// Whether the traffic of the interface is counted by one that it stands on. Members of a bond or a
/// bridge ("master") do not count: a bridge also sees what stays on this host.
bool is_counted_below(const fs::path& interfaces, const std::string& name) {
  const auto below = interfaces_below(interfaces, name);
  return std::any_of(below.begin(), below.end(), [&](const std::string& lower) {
    return is_counted_below(interfaces, lower) || !is_there(interfaces / lower / "master");
  });
}

bool is_infiniband(const fs::path& interfaces, const std::string& name) {
  int type = 0;
  return (std::ifstream(interfaces / name / "type") >> type) && type == ARPHRD_INFINIBAND;
}

/// @param counters with InfiniBand's, which include IP over InfiniBand
void read_network(const fs::path& root, HostCounters& counters) {
  const bool has_infiniband = counters.received_bytes.has_value();
  const fs::path interfaces = root / "sys/class/net";
  std::ifstream in(root / "proc/net/dev");
  std::string line;
  while (std::getline(in, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;  // the titles
    const auto begin = line.find_first_not_of(' ');
    const std::string name = line.substr(begin, colon - begin);
    if (name == "lo" || is_there(interfaces / name / "master") ||
        is_counted_below(interfaces, name) || (has_infiniband && is_infiniband(interfaces, name)))
      continue;
    // bytes packets errs drop fifo frame compressed multicast, then the same for sent ones
    std::array<double, 9> numbers{};
    std::istringstream rest(line.substr(colon + 1));
    for (double& one : numbers) rest >> one;
    if (!rest) continue;
    add(counters.received_bytes, numbers[0]);
    add(counters.sent_bytes, numbers[8]);
  }
}

/// Whether the disk is no part of another one, and does not consist of others.
bool is_whole_disk(const fs::path& root, const std::string& name) {
  for (const std::string_view part : {"loop", "ram", "zram", "dm-", "md"}) {
    if (name.compare(0, part.size(), part) == 0) return false;
  }
  return is_there(root / "sys/block" / name);
}

void read_disks(const fs::path& root, HostCounters& counters) {
  constexpr double kSector = 512;  // in this file, whatever the disk's are
  std::ifstream in(root / "proc/diskstats");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    int major = 0;
    int minor = 0;
    std::string name;
    // reads, merged, sectors, ms, then the same for writes (linux,
    // Documentation/admin-guide/iostats)
    std::array<double, 7> numbers{};
    fields >> major >> minor >> name;
    for (double& one : numbers) fields >> one;
    if (!fields || !is_whole_disk(root, name)) continue;
    add(counters.read_bytes, kSector * numbers[2]);
    add(counters.written_bytes, kSector * numbers[6]);
  }
}

}  // namespace

double own_processor_seconds() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return seconds_of(own.ru_utime) + seconds_of(own.ru_stime);
}

HostCounters read_host_counters(const fs::path& root) {
  HostCounters counters;
  read_processors(root, counters);
  read_process(root, counters);
  read_infiniband(root, counters);
  read_network(root, counters);
  read_disks(root, counters);
  return counters;
}

}  // namespace hpcboot::monitor
