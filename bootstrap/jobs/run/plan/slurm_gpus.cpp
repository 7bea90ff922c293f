#include "slurm_gpus.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"

namespace hpcboot::run {
namespace {

// "gpu:h200:3(IDX:0-1,3),nvme:1": the part in parentheses may contain commas.
int gpus_of(std::string_view resources) {
  int gpus = 0;
  while (!resources.empty()) {
    const std::string_view entry = resources.substr(0, resources.find_first_of(",("));
    if (entry.substr(0, 4) == "gpu:") gpus += slurm_gpus_in(entry).value_or(0);
    resources.remove_prefix(entry.size());
    if (!resources.empty() && resources.front() == '(')
      resources.remove_prefix(std::min(resources.find(')'), resources.size() - 1) + 1);
    if (!resources.empty() && resources.front() == ',') resources.remove_prefix(1);
  }
  return gpus;
}

// The value behind NAME in a line of NAME=VALUE pairs; empty if it is absent.
std::string value_of(const std::string& name, const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.rfind(name, 0) == 0) return word.substr(name.size());
  }
  return "";
}

// From lines such as "Nodes=n[1-2] CPU_IDs=0-1 Mem=0 GRES=gpu:h200:3(IDX:0-2)", one for the hosts
// with equal shares. @throws Error{malformed_hostlist, hostlist_too_large}
std::map<std::string, int> gpus_of_hosts(const std::string& description) {
  std::map<std::string, int> gpus;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    const std::string hosts = value_of("Nodes=", line);
    if (hosts.empty()) continue;
    for (const std::string& host : hostlist::expand(hosts))
      gpus[host] = gpus_of(value_of("GRES=", line));
  }
  return gpus;
}

}  // namespace

std::optional<int> slurm_gpus_in(std::string_view value) {
  return small_number(value.substr(value.rfind(':') + 1));
}

void count_slurm_gpus(Granted& granted, const Surroundings& s) {
  std::map<std::string, int> gpus;
  try {
    gpus =
        gpus_of_hosts(s.output_of({"scontrol", "--details", "show", "job", s.allocation->job_id}));
  } catch (const Error&) {
    return;
  }
  int all = 0;  // 0 also if Slurm names them in another form, as before 20.02
  for (const GrantedHost& host : granted.hosts) {
    if (gpus.count(host.host) == 0) return;
    all += gpus[host.host];
  }
  if (all == 0) return;
  for (GrantedHost& host : granted.hosts) host.gpus = gpus[host.host];
}

}  // namespace hpcboot::run
