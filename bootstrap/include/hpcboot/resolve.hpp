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

/// Another launcher whose variables are also present.
struct OtherSource {
  std::string source;
  bool agrees = true;
  /// If it disagrees: true if a fact, the sizes or the user's settings explain why its values do
  /// not count; `note` has the reason. False if only the order of the launchers decided.
  bool is_explained = false;
  std::string note;
};

/// One line of `hpcboot show --explain`.
struct Attempt {
  std::string source;
  std::string outcome;  ///< "chosen", "witness", "refused", "absent"
  std::string reason;
};

/// The placement of this process: its rank, the number of ranks, where rank 0 is, and its device.
struct Resolution {
  Placement placement;
  std::string launcher;                  ///< the source that placed this process; "single" for none
  std::optional<std::string> scheduler;  ///< slurm, pbs, …; empty outside a job
  std::optional<std::string> job_id;
  /// Distinguishes this run of the job from others: its id, with array task and restart. Empty
  /// outside a job. May be empty on some hosts under launchers that do not pass on job variables.
  std::string job_instance;
  /// The launcher's own id of this launch (a step, a namespace, a run id), equal on all ranks.
  /// Empty if it has none.
  std::string launch_id;
  std::vector<std::string> hosts;  ///< of the launch; under "single", of the allocation
  std::optional<std::string> master_addr;
  std::optional<int> master_port;
  /// The location of the store was given explicitly (HPCBOOT_MASTER_*, MASTER_* or an elastic
  /// agent), so rank 0 must be reached there and nowhere else.
  bool endpoint_is_explicit = false;
  /// torchrun's agent serves the store at master_addr:master_port; rank 0 must not.
  bool agent_store = false;
  std::optional<int> device;
  std::optional<std::string> interface;          ///< for traffic between ranks
  std::optional<std::string> interface_address;  ///< of this host on that interface
  std::map<std::string, Provenance> provenance;  ///< by field name
  std::vector<OtherSource> other_sources;
  std::vector<Attempt> attempts;
  /// Variables that hpcboot exported for another launch (export.hpp): treated as unset.
  std::vector<std::string> ignored_exports;
  /// Which rules of the site were applied, for `show --explain`.
  std::vector<std::string> site_rules;
  /// The number of tasks requested for the allocation, if no launcher placed this process and the
  /// scheduler reports it.
  std::optional<int> allocation_tasks;
  std::vector<std::string> hints;  ///< for the user; never required to proceed
};

struct ResolveOptions {
  AllocationOptions allocation;
};

/// Determines the placement of this process from an environment. Opens no connection and reads no
/// file except the nodefile: fields that only an exchange between ranks can provide stay empty,
/// with the provenance source "exchange".
///
/// Reads HPCBOOT_METHODS (sources to try, in order, separated by spaces or commas) and the
/// variables of every launcher.
/// @throws Error; see ErrorCode 20..35. Never returns "rank 0 of 1" if there is any sign of a
///         launcher.
Resolution resolve(const Env& env, const Facts& facts, const ResolveOptions& options = {});

/// As resolve(), called on all ranks together: fields that the environment leaves open are filled
/// from the launcher's server and from the host names that the ranks exchange. These are sizes and
/// local ranks under bare PMIx and PMI, node_rank, num_nodes, hosts, and in master_addr the address
/// of rank 0's interface for traffic between ranks. Values from the launcher are not overridden,
/// except for local ranks under Hydra if its host file lists a host twice: these are counted by
/// host. For other launchers whose local ranks disagree with the host names, there is a hint.
/// master_port may stay empty: only rank 0 can choose one.
/// @param kvs not used before by another call of this function
/// @throws Error; as resolve(), without needs_exchange; exchange_failed and deadline_exceeded;
///         inconsistent_placement if the exchange belongs to another launch or to a singleton.
Resolution resolve_with_kvs(const Env& env, const Facts& facts, KeyValueStore& kvs,
                            std::chrono::milliseconds deadline, const ResolveOptions& options = {});

/// Detects N processes that each initialised as a singleton, as under an srun that does not speak
/// the protocol of the program's MPI: otherwise each would silently run as rank 0 of 1.
/// @param world_size from the launcher's environment (SLURM_STEP_NUM_TASKS)
/// @param library_size as reported by `library` (MPI, PMI)
/// @throws Error{inconsistent_placement} if library_size is 1 and world_size is larger
void check_not_singleton(int world_size, int library_size, std::string_view launcher,
                         std::string_view library);

}  // namespace hpcboot
