#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan.hpp"

namespace hpcboot::run {

// The capacity of a host for ranks.
struct GrantedHost {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  std::string host;
  int slots = 1;          // ranks requested; 1 if unspecified
  int limit = kNoLimit;   // ranks beyond these need --oversubscribe
  int cpus = 0;           // 0: unknown
  std::string user = {};  // as in HostRanks
  int component = 0;      // likewise
  // Per rank and of the host, if the scheduler reports them for this host.
  std::optional<int> cpus_of_a_rank = {};
  std::optional<int> gpus = {};
};

// The hosts on which ranks may be started: from --hostfile, from the scheduler's job, or this host.
struct Granted {
  std::vector<GrantedHost> hosts;  // at least one
  std::string origin;              // for users: "PBS_NODEFILE"
  std::string scheduler;           // of the job; empty: none
  // Was a number of ranks requested? Otherwise the slots are the scheduler's defaults.
  bool has_asked_for_ranks = false;
  std::optional<int> gpus;  // of each host, if the scheduler reports them
};

// @throws Error{malformed_value, malformed_file, unreadable_file, missing_variable,
//         backend_unavailable, inconsistent_placement (more --nodes than there are)}
Granted granted_hosts(const RunRequest& request, const Surroundings& s);

// The number in the value of a variable; nullopt if there is none, or none from 0 to INT_MAX.
std::optional<int> small_number(std::optional<std::string_view> text);

// Is this the host of this process?
bool is_this_host(const std::string& host, const Surroundings& s);

}  // namespace hpcboot::run
