#include "export_mark.hpp"

#include <algorithm>
#include <cstdint>

#include "contains.hpp"
#include "core/launchers/launchers.hpp"
#include "hpcboot/scheduler.hpp"
#include "unknown_launcher.hpp"

namespace hpcboot {
namespace {

// FNV-1a. Only requirement: different values have different digests.
std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return std::to_string(hash);
}

struct Mark {
  std::string launch;
  std::vector<std::pair<std::string, std::string>> variables;  // name, digest of the value

  bool names(std::string_view variable) const {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const auto& entry) { return entry.first == variable; });
  }
};

// All variables that hpcboot exports. Other names in a mark are ignored, whoever wrote it.
constexpr std::string_view kExported[] = {
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
    "MASTER_ADDR", "MASTER_PORT", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME",
    // by the agents of `hpcboot run`
    "HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK", "HPCBOOT_LOCAL_SIZE",
    "HPCBOOT_NODE_RANK", "HPCBOOT_NUM_NODES", "HPCBOOT_RUN_ID"};

bool is_identity(std::string_view name) {
  return name == "RANK" || name == "WORLD_SIZE" || name == "LOCAL_RANK";
}

// Where the ranks of a launch meet, and over which interface. The others describe its placement.
bool is_of_endpoint(std::string_view name) {
  return name == "MASTER_ADDR" || name == "MASTER_PORT" || name == "NCCL_SOCKET_IFNAME" ||
         name == "GLOO_SOCKET_IFNAME";
}

// "launch,RANK:digest,WORLD_SIZE:digest"; anything malformed marks nothing.
Mark mark_of(const Env& env) {
  Mark mark;
  std::string_view rest = env.text(kExportMark).value_or("");
  mark.launch = rest.substr(0, rest.find(','));
  while (rest.find(',') != std::string_view::npos) {
    rest.remove_prefix(rest.find(',') + 1);
    const std::string_view entry = rest.substr(0, rest.find(','));
    const std::size_t colon = entry.find(':');
    const std::string_view name = entry.substr(0, colon);
    if (colon != std::string_view::npos && contains(kExported, name))
      mark.variables.emplace_back(name, entry.substr(colon + 1));
  }
  return mark;
}

// Does this variable differ between launches, or between processes of one launch?
bool tells_launches_apart(const LaunchVariable& variable) {
  return variable.kind == VariableKind::identity || variable.kind == VariableKind::size ||
         variable.use == VariableUse::required ||
         (variable.kind == VariableKind::handle && variable.use == VariableUse::used);
}

bool is_users_own(std::string_view name) {
  return sources::kGeneric.variables.find(name) != nullptr ||
         sources::kExplicit.variables.find(name) != nullptr;
}

// Identifies the launch and the job of `env`. Excludes hpcboot's exports and variables that a user
// may set, as in a loop that starts processes with RANK=0, RANK=1 and so on.
std::string launch_of(const Env& env, const Mark& mark) {
  std::string text;
  const auto& sources = launch_sources();
  const auto& jobs = schedulers();
  const auto unknown = unknown_identities(env);
  for (const auto& [name, value] : env.variables()) {
    if (value.empty() || mark.names(name) || is_users_own(name)) continue;
    const bool counts =
        unknown.count(name) != 0 ||
        std::any_of(jobs.begin(), jobs.end(),
                    [&, named = std::string_view(name)](auto* job) {
                      return job_variable_of(*job) == named;
                    }) ||
        std::any_of(sources.begin(), sources.end(), [&, named = std::string_view(name)](auto* s) {
          const LaunchVariable* variable = s->variables.find(named);
          return variable != nullptr && tells_launches_apart(*variable);
        });
    if (counts) text.append(name).append("=").append(value).push_back('\0');
  }
  return digest(text);
}

std::vector<std::string> unchanged(const Mark& mark, const Env& env) {
  std::vector<std::string> names;
  for (const auto& [name, value] : mark.variables) {
    const auto now = env.raw(name);
    if (now && digest(*now) == value) names.push_back(name);
  }
  return names;
}

// RANK, WORLD_SIZE and LOCAL_RANK are set together: if RANK or WORLD_SIZE changed, another launcher
// set all three, some perhaps to the same value. A script may have changed LOCAL_RANK alone.
bool is_numbered_anew(const Mark& mark, const Env& env) {
  return std::any_of(mark.variables.begin(), mark.variables.end(), [&](const auto& entry) {
    const auto now = env.raw(entry.first);
    return is_identity(entry.first) && entry.first != "LOCAL_RANK" && now &&
           digest(*now) != entry.second;
  });
}

// Of the variables of `hpcboot run` only the id is marked, so that not even a digest of the secret
// appears.
void add_what_the_id_stands_for(const Env& env, std::vector<std::string>& names) {
  constexpr const char* kId = "HPCBOOT_RUN_ID";
  if (std::find(names.begin(), names.end(), kId) == names.end()) return;
  for (const auto& [name, value] : env.variables()) {
    if (name.rfind("HPCBOOT_RUN_", 0) == 0 && name != kId) names.push_back(name);
  }
}

}  // namespace

std::string export_mark(const std::vector<std::pair<std::string, std::string>>& variables,
                        const Env& env) {
  Mark mark;
  for (const auto& [name, value] : variables) mark.variables.emplace_back(name, digest(value));
  std::string text = launch_of(env, mark);
  for (const auto& [name, value] : mark.variables)
    text.append(",").append(name).append(":").append(value);
  return text;
}

std::vector<std::string> marked_exports(const Env& env) {
  return unchanged(mark_of(env), env);
}

std::vector<std::string> foreign_exports(const Env& env) {
  const Mark mark = mark_of(env);
  if (mark.variables.empty()) return {};
  const bool is_other_launch = mark.launch != launch_of(env, mark);
  const bool is_anew = is_numbered_anew(mark, env);
  if (!is_other_launch && !is_anew) return {};
  std::vector<std::string> names = unchanged(mark, env);
  const auto keep_if = [&](const auto& is_kept) {
    names.erase(std::remove_if(names.begin(), names.end(), is_kept), names.end());
  };
  if (is_anew) keep_if([](const std::string& name) { return is_identity(name); });
  if (!is_other_launch) keep_if([](const std::string& name) { return is_of_endpoint(name); });
  // An agent started since then set its own variables, perhaps to the same values.
  for (const LaunchSource* agent : launch_sources()) {
    if (agent->level != Level::elastic_agent || agent->detect(env, Facts{}).match != Match::present)
      continue;
    keep_if([&](const std::string& name) { return agent->variables.find(name) != nullptr; });
  }
  add_what_the_id_stands_for(env, names);
  return names;
}

void forget_launch(std::map<std::string, std::string>& variables) {
  for (const std::string_view name : kExported) {
    if (name != "NCCL_SOCKET_IFNAME" && name != "GLOO_SOCKET_IFNAME")
      variables.erase(std::string(name));
  }
  variables.erase(kExportMark);
  for (auto it = variables.lower_bound("HPCBOOT_RUN_");
       it != variables.end() && it->first.rfind("HPCBOOT_RUN_", 0) == 0;)
    it = variables.erase(it);
}

Env without(const Env& env, const std::vector<std::string>& names) {
  std::map<std::string, std::string> variables(env.variables().begin(), env.variables().end());
  for (const std::string& name : names) variables.erase(name);
  return Env(std::move(variables));
}

std::vector<std::string> own_exports(const Env& env) {
  const Mark mark = mark_of(env);
  std::vector<std::string> names = unchanged(mark, env);
  if (names.size() < mark.variables.size() || mark.launch != launch_of(env, mark)) return {};
  return names;
}

Env without_foreign_exports(const Env& env) {
  std::vector<std::string> names = foreign_exports(env);
  if (names.empty()) return env;
  names.emplace_back(kExportMark);
  return without(env, names);
}

}  // namespace hpcboot
