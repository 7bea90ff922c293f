#pragma once

#include <vector>

#include "hpcboot/facts.hpp"

namespace hpcboot {

// Is the process `pid` of this host the one that srun started?
bool is_process_of_srun(const Env& env, const std::optional<std::string>& hostname, int pid);

// What `environment` has of the launchers of `env`: those variables that a launcher needs, and
// those that nobody but it sets for one launch.
struct LaunchersSeen {
  std::vector<std::string> held;  // with the same values
  // With others: it may be another launch, or a script has changed a variable since.
  std::vector<std::string> changed;
};

LaunchersSeen launchers_seen(const Env& env, const Env& environment);

}  // namespace hpcboot
