#include "ancestors.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/launch_source.hpp"
#include "nesting.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kMostAncestors = 32;

struct Process {
  std::string name;
  int parent = 0;
};

// From /proc/PID/stat: "PID (name) state parent …"; the name may contain spaces and parentheses.
std::optional<Process> look_at(const std::string& folder) {
  const std::string line = read_file(folder + "/stat").value_or("");
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size())
    return std::nullopt;
  return Process{line.substr(open + 1, close - open - 1),
                 static_cast<int>(std::strtol(line.c_str() + close + 4, nullptr, 10))};
}

// The kernel lets a process read the environments of the same user's processes. Programs that
// overwrite their process title leave nothing that parses as an environment.
std::optional<Env> environment_of(const std::string& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || status.st_uid != getuid()) return std::nullopt;
  const auto bytes = read_file(folder + "/environ");
  if (!bytes) return std::nullopt;
  Env environment = Env::parse(*bytes);
  if (environment.variables().empty()) return std::nullopt;
  return environment;
}

bool is_set_by_others(const LaunchSource& source, std::string_view name) {
  const auto& all = launch_sources();
  return std::any_of(all.begin(), all.end(), [&](const LaunchSource* other) {
    return other != &source && other->variables.find(name) != nullptr;
  });
}

// Does this variable identify a launch of `source`, and does no other launcher set it? For steps,
// only required variables count: Hydra's ranks have some of their daemon's step and some of the
// batch script. Batch scripts export WORLD_SIZE for what they will start, but RANK and LOCAL_RANK
// belong to a process.
bool marks_launch(const LaunchSource& source, const LaunchVariable& variable) {
  if (source.level == Level::generic)
    return variable.use == VariableUse::required && variable.kind == VariableKind::identity;
  if (variable.use == VariableUse::required) return true;
  if (source.level == Level::scheduler_step) return false;
  if (variable.kind != VariableKind::identity && variable.kind != VariableKind::size &&
      variable.kind != VariableKind::handle) {
    return false;
  }
  return !is_set_by_others(source, variable.name);
}

// Set per process, unlike the variables that a daemon starts with.
bool is_of_ranks(const LaunchVariable& variable) {
  return variable.use == VariableUse::required || variable.kind == VariableKind::identity ||
         variable.kind == VariableKind::size;
}

enum class Seen { nothing, changed, held };

Seen look_for(const LaunchSource& source, const Env& env, const Env& environment) {
  bool has_marks = false;
  bool has_own_marks = false;  // that no script exports for other reasons, unlike MASTER_ADDR
  bool are_equal = true;
  bool sees_mark = false;
  bool sees_own_mark = false;
  for (const auto& [name, value] : env.variables()) {
    const LaunchVariable* variable = source.variables.find(name);
    if (variable == nullptr || value.empty() || !marks_launch(source, *variable)) continue;
    // Handles distinguish launches, but a launcher's own daemons also have some.
    const bool is_own = !is_set_by_others(source, name) && is_of_ranks(*variable);
    const bool is_there = environment.has(name);
    has_marks = true;
    has_own_marks |= is_own;
    sees_mark |= is_there;
    sees_own_mark |= is_there && is_own;
    are_equal &= environment.text(name) == value;
  }
  if (!has_marks) return Seen::nothing;
  if (are_equal) return Seen::held;
  return (has_own_marks ? sees_own_mark : sees_mark) ? Seen::changed : Seen::nothing;
}

}  // namespace

bool is_process_of_srun(const Env& env, const std::optional<std::string>& hostname, int pid) {
  return env.text("SLURM_TASK_PID") == std::to_string(pid) && hostname &&
         same_host(env.text("SLURMD_NODENAME").value_or(""), *hostname);
}

LaunchersSeen launchers_seen(const Env& env, const Env& environment) {
  LaunchersSeen seen;
  const auto& all = launch_sources();
  // RANK is then the agent's.
  const bool has_agent = std::any_of(all.begin(), all.end(), [&](const LaunchSource* source) {
    return source->level == Level::elastic_agent &&
           source->detect(env, Facts{}).match == Match::present;
  });
  for (const LaunchSource* source : all) {
    const bool is_of_processes =
        is_real_launcher(*source) || (source->level == Level::generic && !has_agent);
    if (!is_of_processes) continue;
    const Seen state = look_for(*source, env, environment);
    if (state == Seen::held) seen.held.emplace_back(source->name);
    if (state == Seen::changed) seen.changed.emplace_back(source->name);
  }
  return seen;
}

std::vector<Ancestor> ancestors_of_this_process(const Env& env,
                                                const std::optional<std::string>& hostname) {
  std::vector<Ancestor> ancestors;
  bool is_known = true;
  for (int pid = getppid(); pid > 0 && ancestors.size() < kMostAncestors;) {
    const std::string folder = "/proc/" + std::to_string(pid);
    const auto process = look_at(folder);
    if (!process) break;
    Ancestor ancestor;
    ancestor.name = process->name;
    ancestor.process_id = pid;
    ancestor.is_slurm_task = is_process_of_srun(env, hostname, pid);
    const auto environment = is_known ? environment_of(folder) : std::nullopt;
    is_known = environment.has_value();
    if (environment) {
      LaunchersSeen seen = launchers_seen(env, *environment);
      ancestor.held = std::move(seen.held);
      ancestor.changed = std::move(seen.changed);
    }
    ancestors.push_back(std::move(ancestor));
    pid = process->parent;
  }
  return ancestors;
}

}  // namespace hpcboot
