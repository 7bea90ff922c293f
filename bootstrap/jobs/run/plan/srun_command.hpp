#pragma once

#include "launcher_choice.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Fills plan.words, plan.hostfile and the environment that srun needs, as write_launch_command
// does. In a heterogeneous job one srun starts a part for each component, separated by ":".
// @param tasks number that srun starts on each host in plan.layout.hosts
// @param rank  the command of a task
// @throws Error{inconsistent_placement} if the hosts of a component have different numbers of tasks
void write_srun(Plan& plan, const RunRequest& request, const Surroundings& s,
                const LauncherChoice& choice, const std::vector<int>& tasks,
                const std::vector<std::string>& rank);

}  // namespace hpcboot::run
