#include "slurm_components.hpp"

#include "hpcboot/hostlist.hpp"

namespace hpcboot {

std::string slurm_component_variable(const Env& env, const char* name, int component) {
  for (const char* group : {"_HET_GROUP_", "_PACK_GROUP_"}) {
    std::string variable = name + (group + std::to_string(component));
    if (env.has(variable)) return variable;
  }
  return {};
}

std::optional<SlurmComponents> slurm_components(const Env& env) {
  const auto said = env.integer("SLURM_HET_SIZE", 1);
  SlurmComponents all;
  int count = 0;
  for (;; ++count) {
    const std::string nodelist = slurm_component_variable(env, "SLURM_JOB_NODELIST", count);
    if (nodelist.empty()) break;
    const auto hosts = hostlist::expand(*env.text(nodelist));
    all.hosts.insert(all.hosts.end(), hosts.begin(), hosts.end());
    all.components.resize(all.hosts.size(), count);
    const std::string counts = slurm_component_variable(env, "SLURM_TASKS_PER_NODE", count);
    if (counts.empty()) continue;
    const auto slots = hostlist::expand_counts(*env.text(counts), counts);
    all.slots.insert(all.slots.end(), slots.begin(), slots.end());
  }
  if (count == 0 || (said && *said != count)) return std::nullopt;
  if (all.slots.size() != all.hosts.size()) all.slots.clear();
  return all;
}

}  // namespace hpcboot
