#include "check_allocation.hpp"

#include <algorithm>

#include "core/counted.hpp"
#include "hpcboot/endpoint.hpp"

namespace hpcboot::tool {
namespace {

int ranks_on(const std::string& host, const std::vector<std::string>& hosts_of_ranks) {
  return static_cast<int>(
      std::count_if(hosts_of_ranks.begin(), hosts_of_ranks.end(),
                    [&](const std::string& name) { return same_host(name, host); }));
}

}  // namespace

std::vector<JobProblem> idle_hosts(const std::vector<std::string>& hosts_of_ranks,
                                   const Allocation& job) {
  const bool are_known =
      std::all_of(hosts_of_ranks.begin(), hosts_of_ranks.end(), [&](const std::string& name) {
        return std::any_of(job.hosts.begin(), job.hosts.end(),
                           [&](const std::string& host) { return same_host(name, host); });
      });
  if (!are_known) return {};
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> idle;
  for (const std::string& host : job.hosts) {
    if (ranks_on(host, hosts_of_ranks) == 0) idle.push_back(host);
  }
  if (idle.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(idle.size(), kNamed); ++i)
    names += (i == 0 ? "" : ", ") + idle[i];
  if (idle.size() > kNamed) names += " and " + std::to_string(idle.size() - kNamed) + " more";
  return {{"host idle",
           "no rank arrived from " + names + ": the job has " +
               counted(static_cast<int>(job.hosts.size()), "host") + ", and " +
               counted(static_cast<int>(hosts_of_ranks.size()), "rank") + " arrived from " +
               std::to_string(job.hosts.size() - idle.size()) +
               "; a launcher without support for the scheduler needs a hostfile",
           {}}};
}

std::vector<JobProblem> crowded_hosts(const std::vector<std::string>& hosts_of_ranks,
                                      const Allocation& job) {
  std::vector<JobProblem> problems;
  for (std::size_t i = 0; i < std::min(job.hosts.size(), job.slots.size()); ++i) {
    const int ranks = ranks_on(job.hosts[i], hosts_of_ranks);
    if (ranks <= job.slots[i]) continue;
    problems.push_back({"host oversubscribed",
                        "host " + job.hosts[i] + " is oversubscribed: " + counted(ranks, "rank") +
                            ", " + counted(job.slots[i], "slot"),
                        {}});
  }
  return problems;
}

}  // namespace hpcboot::tool
