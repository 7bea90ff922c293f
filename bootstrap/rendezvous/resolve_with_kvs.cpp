#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "core/counted.hpp"
#include "core/export_mark.hpp"
#include "core/selection.hpp"
#include "core/time_left.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {
namespace {

constexpr const char* kHostKey = "host";

// Where every rank runs, as reported by the launcher and the ranks.
struct Hosts {
  std::vector<std::string> names;  // in order of their first ranks
  std::vector<int> of_rank;        // index into names
  std::string rank0_address;       // of its interface for traffic between ranks, else its host name
  int ranks_on_own_node = 0;       // as counted by the launcher; 0: unknown

  int count() const { return static_cast<int>(names.size()); }
  int node_of(int rank) const { return of_rank[static_cast<std::size_t>(rank)]; }
  const std::string& name_of(int rank) const {
    return names[static_cast<std::size_t>(node_of(rank))];
  }
  int local_rank_of(int rank) const {
    return static_cast<int>(std::count(of_rank.begin(), of_rank.begin() + rank, node_of(rank)));
  }
  int local_size_of(int rank) const {
    return static_cast<int>(std::count(of_rank.begin(), of_rank.end(), node_of(rank)));
  }
};

// If the launcher provides a node map, only the first rank of each node reports for it, which saves
// most of the traffic; else every rank reports. Nodes with the same name are one host: Hydra counts
// a host once per entry in the host file, Flux once per broker that runs there.
Hosts gather_hosts(const Env& env, const Facts& facts, KeyValueStore& kvs,
                   std::chrono::milliseconds deadline) {
  const auto end = end_after(deadline);
  const int size = kvs.world_size();
  Hosts hosts;
  std::vector<int> nodes = kvs.node_map(time_left(end));
  if (!nodes.empty()) {
    const int own = nodes[static_cast<std::size_t>(kvs.rank())];
    hosts.ranks_on_own_node = static_cast<int>(std::count(nodes.begin(), nodes.end(), own));
  } else {
    nodes.resize(static_cast<std::size_t>(size));
    std::iota(nodes.begin(), nodes.end(), 0);
  }
  const auto node_of = [&](int rank) { return nodes[static_cast<std::size_t>(rank)]; };
  const auto own_node = std::find(nodes.begin(), nodes.end(), node_of(kvs.rank()));
  if (own_node - nodes.begin() == kvs.rank()) {
    const auto interface = choose_interface(env, facts);
    kvs.put(kHostKey, facts.hostname.value_or("?") + " " + (interface ? interface->address : ""));
  }
  kvs.commit(time_left(end));
  std::map<int, int> host_of_node;
  for (int rank = 0; rank < size; ++rank) {
    const auto [known, is_new] = host_of_node.emplace(node_of(rank), hosts.count());
    if (is_new) {
      const std::string text = kvs.get(rank, kHostKey, time_left(end));
      const std::size_t space = text.find(' ');
      const std::string name = text.substr(0, space);
      if (rank == 0) hosts.rank0_address = space + 1 < text.size() ? text.substr(space + 1) : name;
      const auto same = std::find(hosts.names.begin(), hosts.names.end(), name);
      known->second = static_cast<int>(same - hosts.names.begin());
      if (same == hosts.names.end()) hosts.names.push_back(name);
    }
    hosts.of_rank.push_back(known->second);
  }
  return hosts;
}

// "rank 1 of 4"; a launcher may know only one of them.
std::string placement_in(const LaunchFacts& said) {
  const std::string rank = said.rank ? "rank " + std::to_string(*said.rank) : "";
  if (!said.world_size) return rank;
  return (rank.empty() ? "a rank" : rank) + " of " + std::to_string(*said.world_size);
}

void check_same_launch(const LaunchFacts& said, std::string_view source, const KeyValueStore& kvs) {
  const int size = kvs.world_size();
  const bool agrees =
      said.rank.value_or(kvs.rank()) == kvs.rank() && said.world_size.value_or(size) == size;
  if (agrees) return;
  if (said.world_size) check_not_singleton(*said.world_size, size, source, kvs.description());
  throw Error(ErrorCode::inconsistent_placement,
              std::string(source) + " reports " + placement_in(said) + ", but " +
                  kvs.description() + " reports rank " + std::to_string(kvs.rank()) + " of " +
                  std::to_string(size),
              "both to describe the same launch",
              "the exchange belongs to an outer launcher: set HPCBOOT_MASTER_ADDR and "
              "HPCBOOT_MASTER_PORT, or choose the launcher with HPCBOOT_METHODS");
}

// Passes the launcher server's answer as explicit user settings, so that the rules of resolve()
// apply to it.
Resolution resolve_as_told(const Env& env, const Facts& facts, const ResolveOptions& options,
                           const Selection& selection, const KeyValueStore& kvs,
                           const Hosts& hosts) {
  const int rank = kvs.rank();
  std::map<std::string, std::string> variables(env.variables().begin(), env.variables().end());
  const auto set = [&](const char* name, int value) { variables[name] = std::to_string(value); };
  if (selection.endpoint_is_foreign) {
    variables.erase("MASTER_ADDR");
    variables.erase("MASTER_PORT");
  }
  variables["HPCBOOT_METHODS"] = "explicit";
  set("HPCBOOT_RANK", rank);
  set("HPCBOOT_WORLD_SIZE", kvs.world_size());
  set("HPCBOOT_LOCAL_RANK", hosts.local_rank_of(rank));
  set("HPCBOOT_LOCAL_SIZE", hosts.local_size_of(rank));
  set("HPCBOOT_NODE_RANK", hosts.node_of(rank));
  set("HPCBOOT_NUM_NODES", hosts.count());
  Resolution r = resolve(Env(std::move(variables)), facts, options);
  for (const char* field :
       {"rank", "world_size", "local_rank", "local_size", "node_rank", "num_nodes"}) {
    r.provenance[field] = {"exchange", kvs.description()};
  }
  // check_same_launch() has found these two equal.
  for (const char* field : {"rank", "world_size"}) {
    const auto variable = selection.facts.variables.find(field);
    if (variable == selection.facts.variables.end()) continue;
    r.provenance[field] = {std::string(selection.source->name), variable->second};
  }
  r.launcher = selection.source->name;
  r.launch_id = selection.facts.identity;
  r.other_sources = selection.other_sources;
  r.attempts = selection.attempts;
  return r;
}

void fill_gaps(Resolution& r, const KeyValueStore& kvs, const Hosts& hosts) {
  const int rank = kvs.rank();
  const Provenance told{"exchange", kvs.description()};
  Placement& p = r.placement;
  const auto fill = [&](const char* field, std::optional<int>& slot, int value) {
    if (slot) return;
    slot = value;
    r.provenance[field] = told;
  };
  // Launchers may number the ranks of a host in their own order (Open MPI 5: by core).
  const int local_size = hosts.local_size_of(rank);
  if (p.local_rank >= local_size) {
    // For example if every rank has its own container with its own host name.
    r.hints.push_back(r.launcher + " reports local_rank " + std::to_string(p.local_rank) +
                      ", but among the ranks on host " + hosts.name_of(rank) + " it is number " +
                      std::to_string(hosts.local_rank_of(rank)));
  } else if (p.local_size.value_or(local_size) != local_size) {
    r.hints.push_back(r.launcher + " reports local_size " + std::to_string(*p.local_size) +
                      ", but host " + hosts.name_of(rank) + " has " + counted(local_size, "rank"));
  } else {
    fill("local_size", p.local_size, local_size);
    fill("node_rank", p.node_rank, hosts.node_of(rank));
    fill("num_nodes", p.num_nodes, hosts.count());
  }
  if (r.hosts.empty()) {
    r.hosts = hosts.names;
    r.provenance["hosts"] = told;
  }
  if (!r.master_addr) {
    r.master_addr = hosts.rank0_address;
    r.provenance["master_addr"] = told;
  }
}

// More ranks report this host's name than the launcher counts here.
bool is_split_by_entries(const Resolution& r, const Hosts& hosts) {
  if (!traits_of(r.launcher).counts_hosts_by_entry) return false;
  const int counted = r.placement.local_size.value_or(hosts.ranks_on_own_node);
  return counted > 0 && counted < hosts.local_size_of(r.placement.rank);
}

}  // namespace

Resolution resolve_with_kvs(const Env& given, const Facts& facts, KeyValueStore& kvs,
                            std::chrono::milliseconds deadline, const ResolveOptions& options) {
  const Env env = without_foreign_exports(given);
  const Selection selection = select_source(env, facts);
  if (selection.source == nullptr) return resolve(env, facts, options);
  check_same_launch(selection.facts, selection.source->name, kvs);
  const Hosts hosts = gather_hosts(env, facts, kvs, deadline);
  std::optional<Resolution> said;
  try {
    said = resolve(env, facts, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::needs_exchange) throw;
  }
  const bool is_split = said && is_split_by_entries(*said, hosts);
  Resolution r =
      said && !is_split ? *said : resolve_as_told(env, facts, options, selection, kvs, hosts);
  if (is_split) {
    r.hints.push_back(r.launcher + " counts host " + hosts.name_of(kvs.rank()) +
                      " more than once, each time with local ranks from 0 (a host file that lists "
                      "it twice, or several daemons on it); hpcboot counts local ranks by host");
  }
  fill_gaps(r, kvs, hosts);
  r.ignored_exports = foreign_exports(given);
  return r;
}

void check_not_singleton(int world_size, int library_size, std::string_view launcher,
                         std::string_view library) {
  if (library_size != 1 || world_size <= 1) return;
  throw Error(ErrorCode::inconsistent_placement,
              std::string(launcher) + " started " + std::to_string(world_size) +
                  " processes, but each is rank 0 of 1 to " + std::string(library),
              "a launcher and a library that speak the same protocol (PMIx, PMI2, PMI-1)",
              "under Slurm, choose it with srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows "
              "the available types); otherwise use the mpirun or mpiexec of the same MPI");
}

}  // namespace hpcboot
