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

// What `hpcboot run` will do, determined before anything is started: how many ranks each host gets,
// which launcher starts them, and with which command. Nothing here starts a process or writes a
// file, except through Surroundings.
namespace hpcboot::run {

// Ranks are assigned in the order of the hosts: the first host has rank 0.
struct HostRanks {
  std::string host;
  int ranks = 0;
  std::string user = {};         // whom to log in as; empty: the hostfile names nobody
  int component = 0;             // of a heterogeneous Slurm job
  int threads = 1;               // CPUs of each of its ranks
  int cpus = 0;                  // granted by the scheduler; 0: unknown
  std::optional<int> gpus = {};  // likewise, if it tells this host's number
};

struct Layout {
  std::vector<HostRanks> hosts;     // those that get ranks
  std::string origin;               // source of the hosts and counts, for users
  bool is_this_host_alone = false;  // one host, on which `run` is running

  int world_size() const;
  // Of the host whose ranks have the fewest CPUs.
  int threads_per_rank() const;
};

// What starts the ranks.
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

// "srun", "mpirun (Open MPI)": as used by --dry-run and messages.
const char* name_of(Launcher launcher) noexcept;

// Do agents of hpcboot start the ranks, one on each host?
bool has_agents(Launcher launcher) noexcept;

// An agent's host and the command that starts `hpcboot run-agent` there; empty: on this host.
struct AgentPlace {
  std::string host;
  std::vector<std::string> shell;  // "ssh", "-o", …, "n1": the remote command is appended
};

struct Plan {
  Launcher launcher = Launcher::local;
  std::string launcher_origin;  // why this one, for users
  std::string self;             // Surroundings::self
  Layout layout;                // with --torchrun a torchrun counts as a rank
  // With agents: one per host in layout.hosts; `words` is what each rank executes.
  std::vector<AgentPlace> agents;
  // Without agents: the launcher's command, which ends with `hpcboot run-rank … -- PROGRAM ARGS…`.
  std::vector<std::string> words;
  // What the launcher reads from a private file. That file's path replaces kHostfileWord in
  // words[hostfile_word], if that is not 0, or else in the variable kHostfileVariable. In other
  // places the user may mean something else by it.
  std::string hostfile;
  std::size_t hostfile_word = 0;
  // How the launcher's (with agents: the ranks') environment differs from that of this process.
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;
  // Variables that are copied to ranks on other hosts: for mpirun -x and for agents. Their values
  // appear on no command line.
  std::vector<std::string> exported;
  std::optional<std::string> stage;  // --stage
  // The launcher must lead its own session: PBS signals every process of the job's session at once.
  bool own_session = false;
  std::vector<std::string> notes;  // for users
};

inline constexpr const char* kHostfileWord = "{hostfile}";
inline constexpr const char* kHostfileVariable = "SLURM_HOSTFILE";

// What the plan depends on besides the request, so that tests can replace it.
struct Surroundings {
  Env env;
  Facts facts;
  std::optional<Allocation> allocation;  // read_allocation(env)
  std::string self;                      // the path of this program, the same on every host
  int cores = 1;                         // that this process may use, at the same time
  int numa_nodes = 1;
  std::optional<int> visible_devices;  // of this host, after the masks; nullopt: unknown
  // The path of a program as a shell would find it; empty if there is none.
  std::string (*find_program)(const Env& env, const std::string& name) = nullptr;
  // Runs a command such as `srun --mpi=list` with this standard input.
  CommandResult (*run_command)(const std::vector<std::string>& words,
                               const std::string& input) = nullptr;
  // The whole text of a file. @throws Error{unreadable_file}
  std::string (*read_file)(const std::string& path) = nullptr;

  // The output of a command, whatever its exit code; empty if it cannot be run.
  std::string output_of(const std::vector<std::string>& words) const {
    return run_command(words, "").output;
  }

  static Surroundings of_this_process(const Env& env);
};

// @throws Error{malformed_value, malformed_file, unreadable_file, backend_unavailable,
//         inconsistent_placement} for what cannot be started: more ranks than granted, a missing
//         launcher, several programs
Plan make_plan(const RunRequest& request, const Surroundings& surroundings);

// The command and the variables, for users to read and paste into a shell; without secrets.
std::string dry_run_text(const Plan& plan);

}  // namespace hpcboot::run
