#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

// The hosts of a heterogeneous job, component by component: SLURM_JOB_NODELIST_HET_GROUP_0, …_1 and
// so on (srun without salloc in 22.05: _PACK_GROUP_0 …), with the tasks requested on them if
// SLURM_TASKS_PER_NODE_HET_GROUP_n gives them for all components.
struct SlurmComponents {
  std::vector<std::string> hosts;
  std::vector<int> slots;       // parallel to hosts; empty if unknown
  std::vector<int> components;  // parallel to hosts: the number of each one's component
};

// nullopt outside such a job, or if the list of a component is missing.
// @throws Error{malformed_hostlist, malformed_value}
std::optional<SlurmComponents> slurm_components(const Env& env);

// The variable of one component, SLURM_CPUS_PER_TASK_HET_GROUP_1 for ("SLURM_CPUS_PER_TASK", 1);
// empty if it is not set.
std::string slurm_component_variable(const Env& env, const char* name, int component);

}  // namespace hpcboot
