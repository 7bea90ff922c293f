#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/launch_variable.hpp"
#include "hpcboot/placement.hpp"

namespace hpcboot {

/// What one launcher reports. A field that it does not report stays empty; resolve() fills gaps by
/// rule, never from another launcher.
struct LaunchFacts {
  std::optional<int> rank, world_size, local_rank, local_size, node_rank, num_nodes;
  std::vector<std::string>
      hosts;               ///< hosts of this launch (of a Slurm step, not of the job), in order
  std::string rank0_host;  ///< where rank 0 runs, unless it is always the first of hosts
  /// The launcher gives the address of rank 0's interface to all other ranks, but not to rank 0.
  bool rank0_knows_itself = false;
  std::optional<int> master_port;  ///< the port that the launcher assigns to rank 0's server
  bool any_order = false;  ///< ranks may be placed on hosts in any order, as with a rankfile
  std::string identity;    ///< distinguishes launches within one job (Slurm: the step id)
  /// Field -> the variable it was read from; "master_addr" for rank0_host.
  std::map<std::string, std::string> variables;
};

/// Does the environment show a launcher?
enum class Match {
  absent,   ///< no sign of it
  refused,  ///< signs of it that do not describe this process (a batch step's SLURM_PROCID)
  present,  ///< it placed this process: read() returns or throws
};

struct Detection {
  Match match = Match::absent;
  std::string reason;  ///< why it was refused, or what revealed it
};

/// Nesting level of a launcher: if two are present, the one with the lower level placed this
/// process. Two launchers of the same level that disagree are distinguished by is_live(), or are
/// ambiguous.
enum class Level {
  explicit_settings,  ///< HPCBOOT_RANK and similar variables
  elastic_agent,      ///< torchrun: started by any of the levels below
  mpi_launcher,       ///< mpirun and similar: started inside an allocation, often through srun
  scheduler_step,     ///< srun, jsrun
  pod,                ///< a container platform that starts one process in each pod
  generic,            ///< RANK and WORLD_SIZE, not specific to any launcher
  library,            ///< only PMIx or PMI variables, without those of their launcher
  remote_shell,       ///< started by pbsdsh and similar, which number tasks but do not count them
};

/// "explicit settings", "MPI launcher", … as in bootstrap/README.md and in launcher descriptions.
std::string_view name_of(Level level) noexcept;

/// Properties of a launcher that other rules depend on.
struct LauncherTraits {
  /// Its ranks on every host have the variables of the job and its script. mpirun and Hydra start
  /// ranks over ssh, which passes on few of them: the allocation is then known on the first host
  /// only.
  bool hands_on_job_variables = true;
  /// Ranks are assigned in the order of the hosts that it names.
  bool orders_ranks_by_host = true;
  /// Its agent serves the store at MASTER_ADDR and MASTER_PORT; rank 0 must not.
  bool serves_a_store = false;
  /// It starts one process per host: the index of the host is the rank.
  bool one_process_a_host = false;
  /// A host that its host file lists twice, or that runs two of its daemons, counts as two hosts,
  /// each with its own local ranks.
  bool counts_hosts_by_entry = false;
  /// It ends the job if a rank that has used PMI-1 exits without sending "finalize". Assumed for
  /// bare PMI.
  bool takes_silence_for_a_crash = true;
};

struct LauncherDescription;

/// One launcher and everything known about it: a file in bootstrap/core/launchers, either C++ with
/// an entry in launch_sources(), or data (NAME.toml).
struct LaunchSource {
  std::string_view name;  ///< as in HPCBOOT_METHODS, provenance and the output's `launcher`
  Level level;
  std::string_view why_here;     ///< the reason for its position in the order, shown by --explain
  std::string_view set_by;       ///< the command that sets the variables, for messages
  std::string_view documented;   ///< where they are documented: a URL, or source files
  VariableList variables;        ///< all variables that it sets or reads
  std::string_view cannot_know;  ///< what its variables do not reveal
  LauncherTraits traits;
  /// @{ Implement detect(), read() and is_live().
  Detection (*detect_in)(const Env&, const Facts&) = nullptr;
  LaunchFacts (*read_from)(const Env&, const Facts&) = nullptr;
  std::optional<bool> (*is_live_in)(const Env&, const Facts&) = nullptr;
  /// @}
  /// For a launcher described by a file, used instead of the functions; null for those in C++.
  const LauncherDescription* description = nullptr;
  /// The file that describes a launcher added by add_launchers(); empty for a built-in one.
  std::string_view file = {};

  /// Is this launcher present in the environment?
  Detection detect(const Env& env, const Facts& facts) const;
  /// What it reports. Call only if detect() returned present.
  /// @throws Error naming the variable that is missing or malformed.
  LaunchFacts read(const Env& env, const Facts& facts) const;
  /// Does the launcher serve this very process? nullopt if unknown. Used only to distinguish two
  /// launchers of the same level.
  std::optional<bool> is_live(const Env& env, const Facts& facts) const;
};

/// All launchers, innermost first. The order is documented in bootstrap/README.md: by level; within
/// a level, first those added by add_launchers(), then those in C++, then the descriptions that
/// ship with hpcboot, by name.
const std::vector<const LaunchSource*>& launch_sources();

/// The traits of the launcher with this name; the defaults for "single" and for unknown names.
LauncherTraits traits_of(std::string_view launcher) noexcept;

struct Scheduler;

/// The content of one description file: a launcher, a scheduler, or both.
struct DescribedLauncher {
  std::shared_ptr<const LaunchSource> launcher;  ///< null if only a scheduler is described
  std::shared_ptr<const Scheduler> scheduler;    ///< null if only a launcher is described
};

/// Adds to launch_sources() and schedulers(), for the whole process, as if the launchers were built
/// in. Call it at the start of a program, before the first resolve() and before other threads
/// exist.
/// @throws Error{malformed_file} for a name that is already taken; in that case none is added
void add_launchers(const std::vector<DescribedLauncher>& launchers);

}  // namespace hpcboot
