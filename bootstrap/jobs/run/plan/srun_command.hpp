#pragma once

#include "launcher_choice.hpp"
#include "plan.hpp"

namespace hpcboot::run {

// Appends `srun` and its options to plan.words, as write_launch_command does.
// @param tasks number that srun starts on each host in plan.layout.hosts
void write_srun(Plan& plan, const RunRequest& request, const Surroundings& s,
                const LauncherChoice& choice, const std::vector<int>& tasks, int threads);

}  // namespace hpcboot::run
