#include "plan.hpp"

#include <algorithm>

#include "core/contains.hpp"
#include "core/counted.hpp"
#include "core/omp_threads.hpp"
#include "exported_variables.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/sanitize.hpp"
#include "jobs/run/launcher/control.hpp"
#include "launch_command.hpp"
#include "launcher_choice.hpp"
#include "layout.hpp"
#include "mpi_launchers.hpp"

namespace hpcboot::run {
namespace {

void require_at_least_one(const char* option, const std::optional<int>& value) {
  if (!value || *value >= 1) return;
  throw Error(ErrorCode::malformed_value, option + (" " + std::to_string(*value)),
              "a whole number, at least 1", std::string("correct ") + option);
}

// mpirun and srun separate several programs of one launch by a colon, followed by options or a
// program. Any other colon is an argument, as in `cut -d :`.
bool begins_a_program(const std::string& word, const Surroundings& s) {
  return word == "-n" || word == "-np" || word == "--np" || word == "--ntasks" ||
         !s.find_program(s.env, word).empty();
}

void require_one_program(const std::vector<std::string>& command, const Surroundings& s) {
  const auto is_colon = [](const std::string& word) { return word == ":"; };
  auto colon = std::find_if(command.begin(), command.end(), is_colon);
  while (colon != command.end() &&
         (colon + 1 == command.end() || !begins_a_program(*(colon + 1), s)))
    colon = std::find_if(colon + 1, command.end(), is_colon);
  if (colon == command.end()) return;
  throw Error(
      ErrorCode::malformed_value, "several programs in one command (MPMD), separated by ':'",
      "one program for all ranks",
      "start a script that selects the program by RANK, or use the launcher and hpcboot exec");
}

void remove(std::vector<std::string>& names, const std::string& name) {
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
}

// Variables of an outer launch that the launcher must not see.
std::vector<std::string> unset_for_launcher(const Env& env) {
  std::vector<std::string> names = variables_to_unset(env, Inherit::allocation);
  // PBS's task manager rejects the shell of a mother superior without them: tm_init(3).
  remove(names, "PBS_NODENUM");
  remove(names, "PBS_TASKNUM");
  // Outside a job step the user has set it.
  if (!env.has("SLURM_STEP_ID")) remove(names, "SLURM_MPI_TYPE");
  // It says what may have started this process, not what starts the ranks.
  names.emplace_back("HPCBOOT_METHODS");
  return names;
}

// --env NAME and --env NAME=VALUE.
void take_env_options(Plan& plan, const RunRequest& request, const Env& env) {
  for (const std::string& option : request.env) {
    const std::string name = option.substr(0, option.find('='));
    if (!is_variable_name(name)) {
      // Without the value, which may be a secret.
      throw Error(ErrorCode::malformed_value, "--env " + name,
                  "NAME or NAME=VALUE, where NAME has only letters, digits and _, and does not "
                  "start with a digit",
                  "correct the name");
    }
    if (name.size() < option.size()) {
      plan.set[name] = option.substr(name.size() + 1);
    } else if (!env.raw(name)) {
      plan.notes.push_back("--env " + name + ": not set in this environment");
      continue;
    }
    remove(plan.unset, name);
    if (!contains(plan.exported, name)) plan.exported.push_back(name);
  }
}

constexpr const char* kThreads = "OMP_NUM_THREADS";

bool has_threads_of_a_chunk(const RunRequest& request, const Env& env, const Granted& granted) {
  return granted.scheduler == "pbs" && has_omp_threads_of_a_chunk(env) &&
         !contains(request.env, kThreads);
}

// Does the scheduler say how many CPUs the ranks of each host have? Otherwise only the host knows.
bool are_cpus_known(const Granted& granted) {
  return std::all_of(granted.hosts.begin(), granted.hosts.end(),
                     [](const GrantedHost& host) { return host.cpus_of_a_rank || host.cpus > 0; });
}

void share_cores(Plan& plan, const RunRequest& request, const Env& env, const Granted& granted) {
  const std::string shared = std::to_string(plan.layout.threads_per_rank());
  if (plan.set.count(kThreads) != 0 || env.text(kThreads) == shared) return;
  if (env.has(kThreads)) {
    if (!has_threads_of_a_chunk(request, env, granted)) return;
    plan.notes.push_back("OMP_NUM_THREADS is set to " + shared + "; PBS sets " +
                         std::string(*env.text(kThreads)) +
                         " for all ranks of a chunk; --env OMP_NUM_THREADS keeps that");
  } else if (has_agents(plan.launcher) && !are_cpus_known(granted)) {
    return;  // each agent shares its own host's cores
  }
  plan.set[kThreads] = shared;
  if (!contains(plan.exported, kThreads)) plan.exported.emplace_back(kThreads);
}

// Agents receive these by another route.
void export_handover(Plan& plan) {
  for (const char* name : rendezvous::kHandoverNames) plan.exported.emplace_back(name);
  plan.exported.emplace_back(kControlVariable);
}

// Sorted, and only variables that are set.
std::vector<std::string> needed_unsets(const Plan& plan, const Env& env) {
  std::vector<std::string> names;
  for (const std::string& name : plan.unset) {
    if (env.raw(name) && plan.set.count(name) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// One torchrun is started on each host.
void count_torchruns(Plan& plan) {
  plan.notes.push_back("torchrun starts " + std::to_string(plan.layout.hosts.front().ranks) +
                       " ranks on each host");
  for (HostRanks& host : plan.layout.hosts) host.ranks = 1;
}

void note_idle_hosts(Plan& plan, const Granted& granted) {
  const std::size_t idle = granted.hosts.size() - plan.layout.hosts.size();
  if (idle == 0) return;
  const std::string first = granted.hosts[plan.layout.hosts.size()].host;
  plan.notes.push_back(idle == 1
                           ? "host " + first + " gets no rank"
                           : std::to_string(idle) + " hosts get no rank; the first is " + first);
}

// Slurm gives a job that asks only for GPUs one CPU for each host.
void note_shared_cpus(Plan& plan, const RunRequest& request, const Granted& granted) {
  if (granted.scheduler != "slurm" || request.oversubscribe) return;
  for (const HostRanks& host : plan.layout.hosts) {
    if (host.cpus == 0 || host.ranks <= host.cpus) continue;
    plan.notes.push_back(counted(host.ranks, "rank") + " on host " + host.host + " share " +
                         counted(host.cpus, "CPU") +
                         ": ask for more with --cpus-per-gpu or --ntasks-per-node");
    return;
  }
}

}  // namespace

Plan make_plan(const RunRequest& request, const Surroundings& s) {
  require_one_program(request.command, s);
  require_at_least_one("--nodes", request.nodes);
  require_at_least_one("-n", request.ranks);
  const Granted granted = granted_hosts(request, s);
  Plan plan;
  plan.self = s.self;
  plan.stage = request.stage;
  plan.layout = lay_out(request, s, granted);
  const LauncherChoice choice = choose_launcher(request, s, plan.layout);
  plan.launcher = choice.launcher;
  plan.launcher_origin = choice.origin;
  plan.notes = choice.notes;
  note_idle_hosts(plan, granted);
  note_shared_cpus(plan, request, granted);
  if (plan.launcher == Launcher::local && !request.launcher_args.empty())
    plan.notes.emplace_back("--launcher-args has no effect: no launcher is started");
  plan.unset = unset_for_launcher(s.env);
  plan.exported = exported_variables(s, plan.launcher, plan.unset);
  take_env_options(plan, request, s.env);
  share_cores(plan, request, s.env, granted);
  if (!has_agents(plan.launcher)) export_handover(plan);
  std::sort(plan.exported.begin(), plan.exported.end());
  write_launch_command(plan, request, s, choice);
  if (request.torchrun) count_torchruns(plan);
  plan.unset = needed_unsets(plan, s.env);
  const bool is_mpirun = plan.launcher == Launcher::openmpi || plan.launcher == Launcher::hydra;
  plan.own_session = is_mpirun && granted.scheduler == "pbs" &&
                     !starts_daemons_by_tm({choice.program, choice.launcher}, s);
  return plan;
}

}  // namespace hpcboot::run
