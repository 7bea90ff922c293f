#pragma once

#include "launcher_choice.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Fills plan.words (with plan.hostfile and the environment that the launcher needs) or plan.agents:
// for plan.launcher, plan.layout and plan.exported.
// @throws Error{inconsistent_placement} for a layout that the launcher cannot start
void write_launch_command(Plan& plan, const RunRequest& request, const Surroundings& s,
                          const LauncherChoice& choice);

}  // namespace hpcboot::run
