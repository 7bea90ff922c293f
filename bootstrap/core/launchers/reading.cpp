#include "launchers.hpp"

namespace hpcboot::sources {

bool take(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, int minimum) {
  slot = env.integer(variable, minimum);
  if (slot) facts.variables[field] = variable;
  return slot.has_value();
}

void need(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, const char* launcher, int minimum) {
  slot = env.require_integer(variable, launcher, minimum);
  facts.variables[field] = variable;
}

void derive(LaunchFacts& facts, const char* field, std::optional<int>& slot,
            std::optional<int> value, const char* said_by) {
  if (slot || !value) return;
  slot = value;
  facts.variables.emplace(field, facts.variables.at(said_by));
}

void spread_over_hosts(LaunchFacts& facts) {
  derive(facts, "local_rank", facts.local_rank, 0, "world_size");
  derive(facts, "local_size", facts.local_size, 1, "world_size");
  derive(facts, "node_rank", facts.node_rank, facts.rank, "rank");
  derive(facts, "num_nodes", facts.num_nodes, facts.world_size, "world_size");
}

bool is_served_by_prrte(const Env& env) {
  const auto name_space = env.text("PMIX_NAMESPACE");
  if (!name_space) return false;
  const std::size_t at = name_space->rfind('@');
  return at != std::string_view::npos && parse_whole_number(name_space->substr(at + 1));
}

Detection detect_any(const Env& env, std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    if (env.has(variable)) return {Match::present, std::string(variable) + " is set"};
  }
  return {};
}

Detection inherited_by_srun() {
  return {Match::refused, "inherited: SLURM_TASK_PID is this process, so srun started it"};
}

}  // namespace hpcboot::sources
