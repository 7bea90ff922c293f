#pragma once

#include <string>
#include <vector>

#include "hpcboot/facts.hpp"

// Programs of the launchers on this machine, found without running any.
namespace hpcboot::doctor {

// Without links; empty if nothing is there.
std::string real_path(const std::string& path);

// The file of an MPI's launcher, links followed; of a copy that is called mpirun, the program
// beside it that tells whose it is. Empty: there is none.
std::string program_behind(const std::string& path);

// PATH's mpirun, as program_behind() has it. Empty: there is none.
std::string mpirun_in_path(const Env& env);

// The file of the nearest of these processes that is an MPI's launcher; empty if none is known to
// be.
std::string mpi_launcher_above(const std::vector<Ancestor>& ancestors);

}  // namespace hpcboot::doctor
