#pragma once

#include <vector>

#include "hpcboot/facts.hpp"

namespace hpcboot {

// Did srun start the process `pid` of this host?
bool is_process_of_srun(const Env& env, const std::optional<std::string>& hostname, int pid);

// Which launchers of `env` also appear in `environment`. Compares the variables that a launcher
// needs and the per-launch variables that only it sets.
struct LaunchersSeen {
  std::vector<std::string> held;  // with the same values
  // With different values: another launch, or a script changed a variable since.
  std::vector<std::string> changed;
};

LaunchersSeen launchers_seen(const Env& env, const Env& environment);

}  // namespace hpcboot
