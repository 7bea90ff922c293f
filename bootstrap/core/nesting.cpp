#include "nesting.hpp"

#include <algorithm>

#include "contains.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

bool agree(const std::optional<int>& a, const std::optional<int>& b) {
  return !a || !b || *a == *b;
}

std::string name_of(const Ancestor& ancestor, std::size_t depth) {
  std::string text = depth == 0 ? "the parent process" : "the ancestor process";
  if (ancestor.process_id != 0) text += " " + std::to_string(ancestor.process_id);
  text += " (" + ancestor.name + ")";
  if (depth != 0) text += ", " + std::to_string(depth + 1) + " levels up";
  return text;
}

// Does an ancestor process have variables of `inner` and none of `outer`? Then the sizes do not
// show that `outer` started this `inner`.
bool speaks_against(const LaunchSource& inner, const LaunchSource& outer, const Facts& facts) {
  if (!facts.ancestors) return false;
  return std::any_of(facts.ancestors->begin(), facts.ancestors->end(), [&](const Ancestor& above) {
    return above.lacks(inner.name) == false && above.lacks(outer.name) == true;
  });
}

// torchrun inside another launch has one agent in each process of that launch.
bool has_agents_in(const Claim& torchrun, const LaunchFacts& outer) {
  const auto& agents = torchrun.facts.num_nodes;
  if (!agents) return false;
  return outer.world_size ? *outer.world_size == *agents : outer.rank && *outer.rank < *agents;
}

// Its PMI server holds the other end of PMI_FD. Neither torchrun's agent nor a Python script passes
// that descriptor on.
bool is_served_by_pmi(const Claim& claim, const Env& env, const Facts& facts) {
  if (facts.pmi_fd_is_open_socket != true) return false;
  const auto rank = env.text("PMI_RANK");
  const auto size = env.text("PMI_SIZE");
  return rank && size && claim.facts.rank && claim.facts.world_size &&
         *rank == std::to_string(*claim.facts.rank) &&
         *size == std::to_string(*claim.facts.world_size);
}

// MPI launchers start their daemons as a step with one task per node.
bool is_a_step_of_daemons(const LaunchFacts& step) {
  return step.local_rank.value_or(0) == 0 &&
         (step.world_size == 1 || (step.world_size && step.world_size == step.num_nodes));
}

// What srun started, and what the environments of the ancestor processes prove.
std::optional<std::string> proof_by_processes(const LaunchSource& inner, const LaunchSource& outer,
                                              const Facts& facts) {
  if (&inner == &outer) return std::nullopt;
  const std::string claim = std::string(inner.name) + " is the inner launcher: ";
  if (facts.is_slurm_task == true && (inner.name == "slurm" || outer.name == "slurm")) {
    if (outer.name == "slurm") return std::nullopt;
    return claim + "SLURM_TASK_PID is this process, so srun started it";
  }
  if (!facts.ancestors) return std::nullopt;
  for (std::size_t depth = 0; depth < facts.ancestors->size(); ++depth) {
    const Ancestor& ancestor = (*facts.ancestors)[depth];
    const auto has_inner = ancestor.holds(inner.name);
    const auto has_outer = ancestor.holds(outer.name);
    if (!has_inner || !has_outer || !*has_outer) return std::nullopt;
    if (*ancestor.lacks(inner.name))
      return claim + "its variables are absent from the environment of " + name_of(ancestor, depth);
    if (!*has_inner) return std::nullopt;  // the same launch, or an outer one
    // Variables that the step's task started with came with the step or before it.
    if (ancestor.is_slurm_task && outer.name == "slurm") return std::nullopt;
    if (ancestor.is_slurm_task && inner.name == "slurm") {
      return claim + "SLURM_TASK_PID is " + name_of(ancestor, depth) +
             ", which started with the variables of " + std::string(outer.name);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> Ancestor::holds(std::string_view launcher) const {
  if (!held) return std::nullopt;
  return contains(*held, launcher);
}

std::optional<bool> Ancestor::lacks(std::string_view launcher) const {
  if (!held) return std::nullopt;
  return !*holds(launcher) && std::find(changed.begin(), changed.end(), launcher) == changed.end();
}

Claim claim_of(const LaunchSource& source, const Env& env, const Facts& facts) {
  Claim claim;
  claim.source = &source;
  try {
    claim.facts = source.read(env, facts);
  } catch (const Error&) {
    claim.damage = std::current_exception();
  }
  return claim;
}

std::string describe(const LaunchFacts& facts) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(*value);
  };
  add("rank", facts.rank);
  add("world_size", facts.world_size);
  add("local_rank", facts.local_rank);
  return text;
}

bool agree(const LaunchFacts& a, const LaunchFacts& b) {
  return agree(a.rank, b.rank) && agree(a.world_size, b.world_size) &&
         agree(a.local_rank, b.local_rank);
}

bool is_real_launcher(const LaunchSource& source) {
  switch (source.level) {
    case Level::elastic_agent:
    case Level::mpi_launcher:
    case Level::scheduler_step:
    case Level::library:
      return true;
    case Level::explicit_settings:
    case Level::pod:
    case Level::generic:
    case Level::remote_shell:
      return false;
  }
  return false;
}

std::optional<std::string> proof_of_nesting(const LaunchSource& inner, const LaunchSource& outer,
                                            const Facts& facts) {
  if (!is_real_launcher(inner) || !is_real_launcher(outer)) return std::nullopt;
  return proof_by_processes(inner, outer, facts);
}

bool may_be_started_by_agent(const Claim& numbers, const Claim& outer) {
  const LaunchFacts& many = numbers.facts;
  const LaunchFacts& one = outer.facts;
  return numbers.source->level == Level::generic && !numbers.damage && many.rank &&
         many.world_size && many.local_rank && is_real_launcher(*outer.source) && !outer.damage &&
         one.world_size && one.local_rank.value_or(0) == 0 && *many.world_size > *one.world_size &&
         (one.world_size == 1 || one.world_size == one.num_nodes || one.local_size == 1);
}

std::optional<std::string> proof_of_agent(const Claim& numbers, const Claim& outer,
                                          const Facts& facts) {
  if (!may_be_started_by_agent(numbers, outer)) return std::nullopt;
  return proof_by_processes(*numbers.source, *outer.source, facts);
}

std::optional<std::string> proof_of_inherited_numbers(const Claim& inner, const Claim& numbers,
                                                      const Facts& facts) {
  if (!may_be_started_by_agent(numbers, inner)) return std::nullopt;
  return proof_by_processes(*inner.source, *numbers.source, facts);
}

std::optional<std::string> reason_for_nesting(const Claim& inner, const Claim& outer,
                                              const Env& env, const Facts& facts) {
  const std::string claim = std::string(inner.source->name) + " is the inner launcher: ";
  const Level level = inner.source->level;
  if (level == outer.source->level) {
    if (inner.source->is_live(env, facts) == true)
      return claim + "it serves PMIx or PMI to this process";
    if (outer.source->is_live(env, facts) != false) return std::nullopt;
    return claim + std::string(outer.source->name) + " does not serve PMIx or PMI to this process";
  }
  if (outer.source->level == Level::elastic_agent) {
    if (!is_served_by_pmi(inner, env, facts)) return std::nullopt;
    return claim + "it serves PMI to this process";
  }
  if (level == Level::elastic_agent && is_real_launcher(*outer.source)) {
    if (!has_agents_in(inner, outer.facts) || speaks_against(*inner.source, *outer.source, facts))
      return std::nullopt;
    return claim + "GROUP_WORLD_SIZE=" + std::to_string(*inner.facts.num_nodes) +
           " matches one agent in each process of " + std::string(outer.source->name);
  }
  if (level == Level::mpi_launcher && outer.source->level == Level::scheduler_step) {
    // Hydra adds the batch script's variables to those of its daemon's task.
    if (outer.damage) return claim + "the step's variables are not those of one task";
    if (!is_a_step_of_daemons(outer.facts)) return std::nullopt;
    return claim + "the step has one task per node, as daemons do";
  }
  if (outer.source->level == Level::pod && is_real_launcher(*inner.source))
    return claim + "it runs in what " + std::string(outer.source->name) + " started";
  return std::nullopt;
}

bool needs_ancestors(const Env& env, const Facts& facts) {
  if (env.has("HPCBOOT_METHODS") || facts.is_slurm_task == true) return false;
  std::vector<Claim> launchers;
  std::vector<Claim> libraries;
  std::vector<Claim> numbers;
  for (const LaunchSource* source : launch_sources()) {
    if (source->level == Level::explicit_settings) {
      if (source->detect(env, facts).match == Match::present) return false;
    } else if ((is_real_launcher(*source) || source->level == Level::generic) &&
               source->detect(env, facts).match == Match::present) {
      auto& claims = source->level == Level::library   ? libraries
                     : source->level == Level::generic ? numbers
                                                       : launchers;
      claims.push_back(claim_of(*source, env, facts));
    }
  }
  if (launchers.size() > 1) return true;
  if (!launchers.empty() && std::any_of(numbers.begin(), numbers.end(), [&](const Claim& claim) {
        return may_be_started_by_agent(claim, launchers[0]);
      })) {
    return true;
  }
  // PMIx and PMI variables accompany a launcher's own, except those of an elastic agent.
  return !launchers.empty() &&
         std::any_of(libraries.begin(), libraries.end(), [&](const Claim& library) {
           return launchers[0].source->level == Level::elastic_agent ||
                  !agree(launchers[0].facts, library.facts);
         });
}

}  // namespace hpcboot
