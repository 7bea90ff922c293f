#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/placement.hpp"

namespace hpcboot {

class KeyValueStore;

/// Another launcher whose variables were also there.
struct OtherSource {
  std::string source;
  bool agrees = true;
  /// If it disagrees: a fact, the sizes or the user's own word say why its values do not count, and
  /// `note` has the reason. Otherwise the order of the launchers alone decided.
  bool is_explained = false;
  std::string note;
};

/// One line of `hpcboot show --explain`.
struct Attempt {
  std::string source;
  std::string outcome;  ///< "chosen", "witness", "refused", "absent"
  std::string reason;
};

/// The answer to: who am I, how many are we, where is rank 0, which device is mine?
struct Resolution {
  Placement placement;
  std::string launcher;                  ///< the source that placed this process; "single" for none
  std::optional<std::string> scheduler;  ///< slurm, pbs, …; empty outside a job
  std::optional<std::string> job_id;
  /// What tells this run of the job from others: its id, with array task and restart. Empty outside
  /// a job. Launchers that do not hand on job variables may leave it empty on some hosts.
  std::string job_instance;
  /// The launcher's own name of this launch (a step, a namespace, a run id), equal on all ranks.
  /// Empty if it has none.
  std::string launch_id;
  std::vector<std::string> hosts;  ///< of the launch; under "single", of the allocation
  std::optional<std::string> master_addr;
  std::optional<int> master_port;
  /// Somebody said exactly where the store is (HPCBOOT_MASTER_*, MASTER_* or an elastic agent), so
  /// rank 0 must be reached there and nowhere else.
  bool endpoint_is_explicit = false;
  /// torchrun's agent serves the store at master_addr:master_port; rank 0 must not.
  bool agent_store = false;
  std::optional<int> device;
  std::optional<std::string> interface;          ///< for traffic between ranks
  std::optional<std::string> interface_address;  ///< of this host on that interface
  std::map<std::string, Provenance> provenance;  ///< by field name
  std::vector<OtherSource> other_sources;
  std::vector<Attempt> attempts;
  /// Variables that hpcboot exported for another launch (export.hpp): read as if they were not set.
  std::vector<std::string> ignored_exports;
  /// What was taken from the site's rules, for `show --explain`.
  std::vector<std::string> site_rules;
  /// How many tasks the allocation was asked for, if no launcher placed this process and the
  /// scheduler says it.
  std::optional<int> allocation_tasks;
  std::vector<std::string> hints;  ///< for people; never needed to go on
};

struct ResolveOptions {
  AllocationOptions allocation;
};

/// Works out the placement of this process from an environment. Opens no connection and reads no
/// file but the nodefile: what only an exchange between ranks could tell stays empty, with the
/// provenance source "exchange".
///
/// Reads HPCBOOT_METHODS (sources to try, in order, separated by spaces or commas) beside the
/// variables of every launcher.
/// @throws Error; see ErrorCode 20..34. Never answers "rank 0 of 1" where a launcher left a mark.
Resolution resolve(const Env& env, const Facts& facts, const ResolveOptions& options = {});

/// As resolve(), for all ranks together: what the environment leaves open comes from the launcher's
/// server and from the host names that the ranks tell each other. Sizes and local ranks under bare
/// PMIx and PMI, node_rank, num_nodes, hosts, and in master_addr rank 0's address on its interface
/// for traffic between ranks. The launcher's own words are not overruled, but for the local ranks
/// of a Hydra that has one host twice in its host file, which are counted by host; where host names
/// speak against another launcher's there is a hint. master_port may stay empty: only rank 0 can
/// choose one.
/// @param exchange not used before by another call of this function
/// @throws Error; as resolve(), without needs_exchange; exchange_failed and deadline_exceeded;
///         inconsistent_placement where the exchange is another launch's, or one of singletons.
Resolution resolve_with_kvs(const Env& env, const Facts& facts, KeyValueStore& kvs,
                            std::chrono::milliseconds deadline, const ResolveOptions& options = {});

/// Finds out a launch whose N processes became N worlds of one, as a program does under an srun
/// that does not speak its MPI's protocol: without this each would be rank 0 of 1, and nobody would
/// see.
/// @param world_size as the launcher's environment has it (SLURM_STEP_NUM_TASKS)
/// @param library_size as `library` (MPI, PMI) has it
/// @throws Error{inconsistent_placement} where library_size is 1 and world_size is more
void check_not_singleton(int world_size, int library_size, std::string_view launcher,
                         std::string_view library);

}  // namespace hpcboot
