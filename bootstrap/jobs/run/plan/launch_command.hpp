#pragma once

#include "launcher_choice.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Fills plan.words (with plan.hostfile, and what else of the environment the launcher needs) or
// plan.agents: by plan.launcher, for plan.layout, with plan.exported.
// @param threads of each rank
// @throws Error{inconsistent_placement} for a layout that the launcher cannot start
void write_launch_command(Plan& plan, const RunRequest& request, const Surroundings& s,
                          const LauncherChoice& choice, int threads);

}  // namespace hpcboot::run
