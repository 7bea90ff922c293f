#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

using Counts = std::vector<int>;

std::int64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// The GPUs of hosts that the scheduler does not tell apart: all are assumed to be like this one,
// unless it is a login node without ranks.
int gpus_of_a_host(const Surroundings& s, const Granted& granted) {
  const bool is_here =
      std::any_of(granted.hosts.begin(), granted.hosts.end(),
                  [&](const GrantedHost& host) { return is_this_host(host.host, s); });
  if (granted.gpus && (!is_here || !s.visible_devices)) return *granted.gpus;
  return s.visible_devices.value_or(0);
}

[[noreturn]] void fail_without_gpus() {
  throw Error(ErrorCode::inconsistent_placement,
              "--ranks-per-node gpu, but no GPU is visible on this host",
              "a GPU that this process may use",
              "ask the scheduler for GPUs, correct CUDA_VISIBLE_DEVICES, or give a number");
}

[[noreturn]] void fail_ranks_per_node(const std::string& text) {
  throw Error(ErrorCode::malformed_value, "--ranks-per-node " + text,
              "a number from 1 to 1048576, gpu, numa or core", "write --ranks-per-node 4, or gpu");
}

// Evaluates --ranks-per-node for a host with that many GPUs.
int ranks_per_node(const std::string& text, const Surroundings& s, int gpus) {
  if (text == "numa") return std::max(s.numa_nodes, 1);
  if (text == "core") return std::max(s.cores, 1);
  if (text == "gpu") return gpus;
  constexpr int kMost = 1 << 20;
  const auto number = parse_whole_number(text);
  if (!number || *number < 1 || *number > kMost) fail_ranks_per_node(text);
  return static_cast<int>(*number);
}

// The numbers without -n, and the starting point for -n.
Counts ranks_of_each(const RunRequest& request, const Surroundings& s, const Granted& granted,
                     int gpus) {
  Counts counts;
  for (const GrantedHost& host : granted.hosts) {
    const int own = host.gpus.value_or(gpus);
    counts.push_back(request.ranks_per_node        ? ranks_per_node(*request.ranks_per_node, s, own)
                     : granted.has_asked_for_ranks ? host.slots
                                                   : std::max(own, 1));
  }
  if (request.ranks_per_node == "gpu" && sum_of(counts) == 0) fail_without_gpus();
  return counts;
}

const char* how_to_ask(const std::string& scheduler) {
  if (scheduler == "slurm") return "ask for more with --ntasks-per-node";
  if (scheduler == "pbs") return "ask for more with mpiprocs (Torque: ppn)";
  if (scheduler == "sge") return "ask for more slots with -pe";
  if (scheduler == "lsf") return "ask for more slots with -n";
  if (scheduler.empty()) return "raise the slots in the hostfile";
  return "ask the scheduler for more";
}

[[noreturn]] void fail_granted(const std::string& asked, const std::string& most,
                               const Granted& granted) {
  throw Error(ErrorCode::inconsistent_placement, asked, "at most " + most,
              std::string(how_to_ask(granted.scheduler)) +
                  ", start fewer ranks, or allow it with --oversubscribe");
}

// Beyond the slots, all hosts are filled to the same level, within their limits.
Counts raised_to(int level, const Counts& begin, const Granted& granted) {
  Counts counts = begin;
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = std::max(begin[i], std::min(level, granted.hosts[i].limit));
  return counts;
}

// -n: fills the hosts in order.
Counts deal(int ranks, Counts counts, const RunRequest& request, const Granted& granted) {
  if (sum_of(counts) < ranks && request.ranks_per_node) {
    throw Error(ErrorCode::inconsistent_placement,
                "-n " + std::to_string(ranks) + " with --ranks-per-node " + *request.ranks_per_node,
                "at most " + counted(sum_of(counts), "rank") + " on " +
                    counted(static_cast<std::int64_t>(counts.size()), "host"),
                "lower -n, raise --ranks-per-node, or leave one of them out");
  }
  if (sum_of(counts) < ranks) {
    const Counts most = raised_to(ranks, counts, granted);
    if (sum_of(most) < ranks) {
      const auto hosts = static_cast<std::int64_t>(counts.size());
      fail_granted("-n " + std::to_string(ranks),
                   "the " + counted(sum_of(most), "rank") + " granted on " +
                       (hosts == 1 ? granted.hosts.front().host : counted(hosts, "host")) + " (" +
                       granted.origin + ")",
                   granted);
    }
    // The lowest level that suffices.
    int too_low = 0;
    int enough = ranks;
    while (enough - too_low > 1) {
      const int middle = too_low + (enough - too_low) / 2;
      (sum_of(raised_to(middle, counts, granted)) < ranks ? too_low : enough) = middle;
    }
    counts = raised_to(enough, counts, granted);
  }
  for (int& count : counts) {
    count = std::min(count, ranks);
    ranks -= count;
  }
  return counts;
}

void require_granted(const Counts& counts, const Granted& granted) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const GrantedHost& host = granted.hosts[i];
    if (counts[i] <= host.limit) continue;
    fail_granted(counted(counts[i], "rank") + " on host " + host.host,
                 "the " + counted(host.limit, "rank") + " granted there (" + granted.origin + ")",
                 granted);
  }
}

// torchrun's agents are one command on all hosts, with a single number of ranks.
void require_even(const Layout& layout) {
  for (const HostRanks& host : layout.hosts) {
    if (host.ranks == layout.hosts.front().ranks) continue;
    throw Error(ErrorCode::inconsistent_placement,
                "--torchrun with " + std::to_string(layout.hosts.front().ranks) + " ranks on " +
                    layout.hosts.front().host + " and " + std::to_string(host.ranks) + " on " +
                    host.host,
                "the same number of ranks on every host", "give --ranks-per-node without -n");
  }
}

// At most as many as the scheduler gives a rank, and at least 1.
int threads_of_a_rank(const GrantedHost& host, int ranks, const Surroundings& s) {
  const int cpus = host.cpus > 0 ? host.cpus : s.cores;
  const int share = std::max(cpus / ranks, 1);
  return std::min(share, host.cpus_of_a_rank.value_or(share));
}

}  // namespace

int Layout::world_size() const {
  return std::accumulate(hosts.begin(), hosts.end(), 0,
                         [](int sum, const HostRanks& host) { return sum + host.ranks; });
}

Layout lay_out(const RunRequest& request, const Surroundings& s, Granted granted) {
  const int gpus = gpus_of_a_host(s, granted);
  for (GrantedHost& host : granted.hosts) {
    if (request.oversubscribe) host.limit = GrantedHost::kNoLimit;
    // A request for GPUs without a number of ranks grants one rank per GPU.
    if (!granted.has_asked_for_ranks) host.limit = std::max(host.limit, host.gpus.value_or(gpus));
  }
  Counts counts = ranks_of_each(request, s, granted, gpus);
  if (request.ranks) counts = deal(*request.ranks, std::move(counts), request, granted);
  require_granted(counts, granted);
  if (sum_of(counts) > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::inconsistent_placement, counted(sum_of(counts), "rank"),
                "at most 2147483647 ranks", "lower --ranks-per-node");
  }
  Layout layout;
  layout.origin = granted.origin;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const GrantedHost& host = granted.hosts[i];
    if (counts[i] > 0) {
      layout.hosts.push_back({host.host, counts[i], host.user, host.component,
                              threads_of_a_rank(host, counts[i], s), host.cpus, host.gpus});
    }
  }
  layout.is_this_host_alone =
      layout.hosts.size() == 1 && is_this_host(layout.hosts.front().host, s);
  if (request.torchrun) require_even(layout);
  return layout;
}

int Layout::threads_per_rank() const {
  return std::min_element(hosts.begin(), hosts.end(),
                          [](const HostRanks& one, const HostRanks& other) {
                            return one.threads < other.threads;
                          })
      ->threads;
}

bool leaves_hosts_out(const Layout& layout, const Surroundings& s) {
  return s.allocation && s.allocation->hosts.size() > layout.hosts.size();
}

std::string host_names(const std::vector<HostRanks>& hosts) {
  std::string names;
  for (const HostRanks& host : hosts) names += (names.empty() ? "" : ",") + host.host;
  return names;
}

}  // namespace hpcboot::run
