#pragma once

#include "launch_command.hpp"

namespace hpcboot::lint {

// Finds the program of an mpirun, whose own -n is none of mpirun's. Sets launch.program, or
// has_all_options to false if it is uncertain where the options end.
void read_mpirun_options(LaunchCommand& launch);

}  // namespace hpcboot::lint
