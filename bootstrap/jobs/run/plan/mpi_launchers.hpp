#pragma once

#include <optional>
#include <string>

#include "plan.hpp"

namespace hpcboot::run {

struct MpiLauncher {
  std::string path;
  Launcher launcher = Launcher::openmpi;  // or hydra, or pals
};

// The mpirun in PATH, if it is from Open MPI or is a Hydra.
std::optional<MpiLauncher> find_mpirun(const Surroundings& s);

// The mpiexec in PATH, if it is from PALS.
std::optional<MpiLauncher> find_pals(const Surroundings& s);

// Does this mpirun start its daemons through PBS's task manager (TM)?
bool starts_daemons_by_tm(const MpiLauncher& mpirun, const Surroundings& s);

}  // namespace hpcboot::run
