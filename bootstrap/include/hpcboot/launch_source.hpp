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

/// What one launcher says. A field that it does not say stays empty: gaps are filled by rule in
/// resolve(), never from another launcher.
struct LaunchFacts {
  std::optional<int> rank, world_size, local_rank, local_size, node_rank, num_nodes;
  std::vector<std::string>
      hosts;               ///< hosts of this launch (of a Slurm step, not of the job), in order
  std::string rank0_host;  ///< where rank 0 runs, if it need not be the first of hosts
  /// Rank 0 is not told where it is, but all others are told the address of its interface.
  bool rank0_knows_itself = false;
  std::optional<int> master_port;  ///< a port that the launcher names for rank 0's server
  bool any_order = false;          ///< ranks may lie on any hosts in any order, as after a rankfile
  std::string identity;            ///< tells two launches within one job apart (Slurm: the step id)
  /// Field -> the variable it was read from; "master_addr" for rank0_host.
  std::map<std::string, std::string> variables;
};

/// Does a launcher's mark stand in the environment?
enum class Match {
  absent,   ///< no sign of it
  refused,  ///< signs of it, but they do not speak of this process (a batch step's SLURM_PROCID)
  present,  ///< it placed this process: read() answers or throws
};

struct Detection {
  Match match = Match::absent;
  std::string reason;  ///< why refused, or what gave it away
};

/// How far in a launcher sits when several nest: of two that are present the lower level placed
/// this process. Two of one level that disagree are told apart by is_live(), or are ambiguous.
enum class Level {
  explicit_settings,  ///< HPCBOOT_RANK and its like
  elastic_agent,      ///< torchrun: started by any of those below
  mpi_launcher,       ///< mpirun and its like: started inside an allocation, often through srun
  scheduler_step,     ///< srun, jsrun
  pod,                ///< a container platform that starts one process in each pod
  generic,            ///< RANK and WORLD_SIZE set by anybody
  library,            ///< PMIx or PMI variables alone, without their launcher's own
  remote_shell,       ///< started by pbsdsh and its like, which number tasks but do not count them
};

/// "explicit settings", "MPI launcher", … as bootstrap/README.md and files that describe launchers
/// write it.
std::string_view name_of(Level level) noexcept;

/// What a launcher does that rules elsewhere depend on.
struct LauncherTraits {
  /// Its ranks on every host have the variables of the job and its script. mpirun and Hydra start
  /// ranks over ssh, and these get few of them: what the allocation says is then known on the first
  /// host only.
  bool hands_on_job_variables = true;
  /// Ranks are dealt in the order of the hosts that it names.
  bool orders_ranks_by_host = true;
  /// Its own agent serves the store at MASTER_ADDR and MASTER_PORT, and rank 0 must not.
  bool serves_a_store = false;
  /// It starts one process on each host: the index of the host is the rank.
  bool one_process_a_host = false;
  /// A host that its host file names twice, or that runs two of its daemons, counts as two, each
  /// with local ranks of its own.
  bool counts_hosts_by_entry = false;
  /// It ends the job if a rank that has used PMI-1 ends without the word "finalize". Of bare PMI
  /// nobody knows.
  bool takes_silence_for_a_crash = true;
};

struct LauncherDescription;

/// One launcher, and all that is known of it: a file in bootstrap/core/launchers, C++ with a line
/// in launch_sources(), or data (NAME.toml).
struct LaunchSource {
  std::string_view name;  ///< as in HPCBOOT_METHODS, provenance and the contract's `launcher`
  Level level;
  std::string_view why_here;     ///< the reason for its place in the order, shown by --explain
  std::string_view set_by;       ///< the command that sets the variables, for messages
  std::string_view documented;   ///< where they are documented: an address, or source files
  VariableList variables;        ///< every variable that it sets or reads
  std::string_view cannot_know;  ///< what its variables do not say
  LauncherTraits traits;
  /// @{ Behind detect(), read() and is_live().
  Detection (*detect_in)(const Env&, const Facts&) = nullptr;
  LaunchFacts (*read_from)(const Env&, const Facts&) = nullptr;
  std::optional<bool> (*is_live_in)(const Env&, const Facts&) = nullptr;
  /// @}
  /// What is read of a launcher that a file describes, in place of the functions; null for those in
  /// C++.
  const LauncherDescription* description = nullptr;
  /// The file that describes it, for one that add_launchers() has added; otherwise it is built in.
  std::string_view file = {};

  /// Does its mark stand in the environment?
  Detection detect(const Env& env, const Facts& facts) const;
  /// What it says. Called only if detect() said present.
  /// @throws Error naming the variable that is missing or malformed.
  LaunchFacts read(const Env& env, const Facts& facts) const;
  /// Is the launcher known to serve this very process (true), known not to (false), or unknown?
  /// Asked only to tell two of one level apart.
  std::optional<bool> is_live(const Env& env, const Facts& facts) const;
};

/// All launchers, innermost first. The order is documented in bootstrap/README.md: by level; within
/// a level those that add_launchers() has added, those in C++, then the files that come with
/// hpcboot, by name.
const std::vector<const LaunchSource*>& launch_sources();

/// The traits of the launcher of that name; the defaults for "single" and for names of nobody.
LauncherTraits traits_of(std::string_view launcher) noexcept;

struct Scheduler;

/// What one file describes: a launcher, a scheduler, or both.
struct DescribedLauncher {
  std::shared_ptr<const LaunchSource> launcher;  ///< null for a scheduler alone
  std::shared_ptr<const Scheduler> scheduler;    ///< null for a launcher alone
};

/// Adds to launch_sources() and schedulers(), for the whole process: what is known of launchers is
/// asked by many, and all have to be told the same, as if it had been built in. Call it at the
/// start of a program, before the first resolve() and before other threads exist.
/// @throws Error{malformed_file} for a name that is taken; then none is added
void add_launchers(const std::vector<DescribedLauncher>& launchers);

}  // namespace hpcboot
