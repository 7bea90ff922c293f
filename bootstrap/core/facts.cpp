#include "hpcboot/facts.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/endpoint.hpp"
#include "numa.hpp"
#include "sites.hpp"

namespace hpcboot {
namespace {

int speed_of(const std::string& interface) {
  // Unknown, or -1, where the driver does not say or the link is down.
  std::ifstream in("/sys/class/net/" + interface + "/speed");
  int speed = 0;
  return in >> speed && speed > 0 ? speed : 0;
}

std::vector<Interface> interfaces_of_this_host() {
  std::vector<Interface> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN] = {};
    Interface interface;
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
      interface.ipv6 = true;
    } else {
      continue;
    }
    interface.name = entry->ifa_name;
    interface.address = text;
    interface.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    interface.speed_mbps = speed_of(interface.name);
    found.push_back(interface);
  }
  freeifaddrs(list);
  return found;
}

// /dev/nvidia0, /dev/nvidia1 …: what this container or cgroup was given, in number. AMD and Intel
// devices lie in /dev/dri as renderD128 and up, beside display adapters, so that they are not
// counted.
int count_device_files() {
  int count = 0;
  DIR* folder = opendir("/dev");
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.rfind("nvidia", 0) == 0 && name.size() > 6 && parse_whole_number(name.substr(6)))
      ++count;
  }
  closedir(folder);
  return count;
}

}  // namespace

Facts Facts::of_this_process(const Env& env) {
  Facts facts;
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) facts.hostname = name;
  facts.interfaces = interfaces_of_this_host();
  if (const auto pmi_fd = env.text("PMI_FD")) {
    const auto number = parse_whole_number(*pmi_fd);
    struct stat status {};
    facts.pmi_fd_is_open_socket = number && *number >= 0 && *number < 1 << 20 &&
                                  fstat(static_cast<int>(*number), &status) == 0 &&
                                  S_ISSOCK(status.st_mode);
  }
  if (const auto task = env.text("SLURM_TASK_PID")) {
    facts.is_slurm_task = *task == std::to_string(getpid()) && facts.hostname &&
                          same_host(env.text("SLURMD_NODENAME").value_or(""), *facts.hostname);
  }
  facts.device_count = count_device_files();
  const auto order = device_order(env);
  if (order && order->value == "numa")
    facts.device_distance = device_distances("/sys", cpus_of_this_process());
  facts.user_id = static_cast<int>(getuid());
  if (const auto path = env.text("PALS_APINFO")) facts.apinfo = read_file(std::string(*path));
  return facts;
}

}  // namespace hpcboot
