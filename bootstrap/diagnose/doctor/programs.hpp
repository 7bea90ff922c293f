#pragma once

#include <string>
#include <vector>

#include "hpcboot/facts.hpp"

// Programs of the launchers on this machine, found without running any.
namespace hpcboot::doctor {

// With links resolved; empty if it does not exist.
std::string real_path(const std::string& path);

// The executable of an MPI's launcher, with links resolved. For a copy named mpirun, the program
// beside it that identifies the MPI. Empty: there is none.
std::string program_behind(const std::string& path);

// The mpirun in PATH, as program_behind() resolves it. Empty: there is none.
std::string mpirun_in_path(const Env& env);

// The executable of the nearest of these processes that is a known MPI launcher; empty if none is.
std::string mpi_launcher_above(const std::vector<Ancestor>& ancestors);

}  // namespace hpcboot::doctor
