#include "hpcboot/facts.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <utility>

#include "ancestors.hpp"
#include "core/classic.hpp"
#include "core/schedulers/read_file.hpp"
#include "export_mark.hpp"
#include "hpcboot/endpoint.hpp"
#include "nesting.hpp"
#include "netlink.hpp"
#include "numa.hpp"
#include "sites.hpp"

namespace hpcboot {
namespace {

constexpr const char* kLinkFolder = "/sys/class/net/";

int speed_of(const std::string& link) {
  // Unreadable or -1 if the driver does not report it or the link is down.
  Classic<std::ifstream> in(kLinkFolder + link + "/speed");
  int speed = 0;
  return in >> speed && speed > 0 ? speed : 0;
}

std::optional<bool> has_device(const std::string& link) {
  const std::string folder = kLinkFolder + link;
  if (access((folder + "/device").c_str(), F_OK) == 0) return true;
  if (access(folder.c_str(), F_OK) == 0) return false;
  return std::nullopt;  // no sysfs, or that of another network namespace
}

void add_what_sysfs_knows(std::vector<Interface>& interfaces) {
  struct Known {
    int speed_mbps = 0;
    std::optional<bool> has_device;
  };
  std::map<std::string, Known> links;  // read once per link, not per address
  for (Interface& interface : interfaces) {
    // "eth0:1" is a label of an address on eth0.
    const std::string link = interface.name.substr(0, interface.name.find(':'));
    const auto [known, is_new] = links.try_emplace(link);
    if (is_new) {
      known->second.speed_mbps = speed_of(link);
      if (interface.kind == "") known->second.has_device = has_device(link);
    }
    interface.speed_mbps = known->second.speed_mbps;
    interface.has_device = known->second.has_device;
  }
}

// Counts /dev/nvidia0, /dev/nvidia1 …: the devices of this container or cgroup. AMD and Intel
// devices are not counted: they appear in /dev/dri as renderD128 and up, among display adapters.
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

std::string own_hostname() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Facts Facts::of_this_process(const Env& env) {
  Facts facts;
  if (std::string name = own_hostname(); !name.empty()) facts.hostname = std::move(name);
  if (auto network = ask_kernel_for_network()) {
    add_what_sysfs_knows(network->interfaces);
    facts.interfaces = std::move(network->interfaces);
    facts.routes = std::move(network->routes);
  }
  if (const auto pmi_fd = env.text("PMI_FD")) {
    const auto number = parse_whole_number(*pmi_fd);
    struct stat status {};
    facts.pmi_fd_is_open_socket = number && *number >= 0 && *number < 1 << 20 &&
                                  fstat(static_cast<int>(*number), &status) == 0 &&
                                  S_ISSOCK(status.st_mode);
  }
  if (env.has("SLURM_TASK_PID"))
    facts.is_slurm_task = is_process_of_srun(env, facts.hostname, getpid());
  facts.device_count = count_device_files();
  const auto order = device_order(env);
  if (order && order->value == "numa")
    facts.device_distance = device_distances("/sys", cpus_of_this_process());
  facts.user_id = static_cast<int>(getuid());
  if (const auto path = env.text("PALS_APINFO")) facts.apinfo = read_file(std::string(*path));
  if (needs_ancestors(without_foreign_exports(env), facts))
    facts.ancestors = ancestors_of_this_process(env, facts.hostname);
  return facts;
}

}  // namespace hpcboot
