#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "process/command.hpp"
#include "run_request.hpp"

// What `hpcboot run` will do, worked out before anything is started: which host gets how many
// ranks, which launcher starts them, and by which command. Nothing here starts a process or writes
// a file, but for those in Surroundings.
namespace hpcboot::run {

// Ranks are dealt in the order of the hosts: the first host has rank 0.
struct HostRanks {
  std::string host;
  int ranks = 0;
};

struct Layout {
  std::vector<HostRanks> hosts;     // those that get ranks
  std::string origin;               // where the hosts and counts are from, for people
  bool is_this_host_alone = false;  // one host, and run is on it

  int world_size() const;
};

// Who starts the ranks.
enum class Launcher {
  local,    // this process's own agent, on this host
  ssh,      // an agent on each host, started by ssh
  qrsh,     // …, by Grid Engine's qrsh -inherit
  blaunch,  // …, by LSF's blaunch
  srun,
  openmpi,  // mpirun of Open MPI
  hydra,    // mpirun of MPICH or Intel MPI
  pals,     // mpiexec of PALS
  flux,     // flux run
  jsrun,
};

// "srun", "mpirun (Open MPI)": as --dry-run and messages have it.
const char* name_of(Launcher launcher) noexcept;

// Do agents of hpcboot start the ranks, one on each host?
bool has_agents(Launcher launcher) noexcept;

// An agent's host and the command that starts `hpcboot run-agent` there; empty: on this host.
struct AgentPlace {
  std::string host;
  std::vector<std::string> shell;  // "ssh", "-o", …, "n1": what is to be run there comes after
};

struct Plan {
  Launcher launcher = Launcher::local;
  std::string launcher_origin;  // why this one, for people
  std::string self;             // Surroundings::self
  Layout layout;                // with --torchrun a torchrun counts as a rank
  // With agents: one for each of layout.hosts, and in `words` what each rank executes.
  std::vector<AgentPlace> agents;
  // Else: the launcher's command, which ends with `hpcboot run-rank … -- PROGRAM ARGS…`. Where a
  // word is kHostfileWord, the path of a private file with `hostfile` in it is put in its place.
  std::vector<std::string> words;
  std::string hostfile;
  // How the launcher's (with agents: the ranks') environment differs from this process's. A value
  // that is kHostfileWord stands for the file's path, too.
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;
  // Variables that ranks on other hosts are to have as this process has them: for mpirun -x and for
  // agents. Their values stand on no command line.
  std::vector<std::string> exported;
  std::optional<std::string> stage;  // --stage
  // The launcher is to be the leader of a session of its own: PBS signals every process of the
  // job's session at once.
  bool own_session = false;
  std::vector<std::string> notes;  // for people
};

inline constexpr const char* kHostfileWord = "{hostfile}";

// What the plan depends on beside the request, so that tests can say what there is.
struct Surroundings {
  Env env;
  Facts facts;
  std::optional<Allocation> allocation;  // read_allocation(env)
  std::string self;                      // the path of this program, the same on every host
  int cores = 1;                         // that this process may run on
  int numa_nodes = 1;
  std::optional<int> visible_devices;  // of this host, behind the masks; nullopt: unknown
  // The path of a program as a shell finds it; empty if there is none.
  std::string (*find_program)(const Env& env, const std::string& name) = nullptr;
  // A command such as `srun --mpi=list`, with this as its standard input.
  CommandResult (*run_command)(const std::vector<std::string>& words,
                               const std::string& input) = nullptr;
  // Whole text of a file. @throws Error{unreadable_file}
  std::string (*read_file)(const std::string& path) = nullptr;

  // What it prints, whatever its exit code; empty if it cannot be run.
  std::string output_of(const std::vector<std::string>& words) const {
    return run_command(words, "").output;
  }

  static Surroundings of_this_process(const Env& env);
};

// @throws Error{malformed_value, malformed_file, unreadable_file, backend_unavailable,
//         inconsistent_placement} for what cannot be started: more ranks than granted, a launcher
//         that is not there, several programs
Plan make_plan(const RunRequest& request, const Surroundings& surroundings);

// The command and the variables, to be read by people and pasted into a shell; no secret in it.
std::string dry_run_text(const Plan& plan);

}  // namespace hpcboot::run
