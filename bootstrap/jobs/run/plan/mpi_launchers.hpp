#pragma once

#include <optional>
#include <string>

#include "plan.hpp"

namespace hpcboot::run {

struct MpiLauncher {
  std::string path;
  Launcher launcher = Launcher::openmpi;  // or hydra, or pals
};

// PATH's mpirun, if it is Open MPI's or a Hydra.
std::optional<MpiLauncher> find_mpirun(const Surroundings& s);

// PATH's mpiexec, if it is of PALS.
std::optional<MpiLauncher> find_pals(const Surroundings& s);

// Does the mpirun start its daemons by PBS's task manager (TM)?
bool starts_daemons_by_tm(const MpiLauncher& mpirun, const Surroundings& s);

}  // namespace hpcboot::run
