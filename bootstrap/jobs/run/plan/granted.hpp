#pragma once

#include <limits>
#include <string>
#include <vector>

#include "plan.hpp"

namespace hpcboot::run {

// What a host has for ranks.
struct GrantedHost {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  std::string host;
  int slots = 1;         // ranks asked for; 1 where nobody says
  int limit = kNoLimit;  // ranks beyond these need --oversubscribe
  int cpus = 0;          // 0: nobody says
};

// The hosts that ranks may be started on: of --hostfile, of the scheduler's job, or this one.
struct Granted {
  std::vector<GrantedHost> hosts;  // at least one
  std::string origin;              // for people: "PBS_NODEFILE"
  std::string scheduler;           // of the job; empty: none
  // Was a number of ranks asked for? Else the slots are what a scheduler counts without.
  bool has_asked_for_ranks = false;
  std::optional<int> gpus;            // of a host, where the scheduler says
  std::optional<int> cpus_of_a_rank;  // likewise
};

// @throws Error{malformed_value, malformed_file, unreadable_file, missing_variable,
//         backend_unavailable, inconsistent_placement (more --nodes than there are)}
Granted granted_hosts(const RunRequest& request, const Surroundings& s);

// Is it the host that this process is on?
bool is_this_host(const std::string& host, const Surroundings& s);

}  // namespace hpcboot::run
