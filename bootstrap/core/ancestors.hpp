#pragma once

#include <vector>

#include "hpcboot/facts.hpp"

namespace hpcboot {

// The processes above this one, the parent first, at most 32, from /proc. Environments are read up
// to the first that belongs to another user or cannot be read.
// @param env whose launchers' variables are looked for in them.
// @param hostname for SLURM_TASK_PID, which counts processes of the host SLURMD_NODENAME.
std::vector<Ancestor> ancestors_of_this_process(const Env& env,
                                                const std::optional<std::string>& hostname);

// Is the process `pid` of this host the one that srun started?
bool is_process_of_srun(const Env& env, const std::optional<std::string>& hostname, int pid);

// The launchers of `env` whose variables stand in `environment` with the same values: those that a
// launcher needs, and those that nobody but it sets for one launch.
std::vector<std::string> launchers_held(const Env& env, const Env& environment);

}  // namespace hpcboot
