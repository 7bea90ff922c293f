#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// What a launch started from within another launch may still see.
enum class Inherit {
  allocation,  ///< the scheduler's job and hosts, where mpirun and srun find their resources
  nothing,     ///< as outside any job
};

/// The variables of `env` that identify this process within its launch: ranks, sizes, the PMI and
/// PMIx connection, the endpoint, and the options of a step that srun passes on. A launcher started
/// with them would take itself for a rank of the outer launch. Settings chosen by the user
/// (OMPI_MCA_btl, PMIX_MCA_*, I_MPI_*, NCCL_*, device masks) are not among them. Without these
/// variables, resolve() returns "single". Sorted by name; only variables that are set, including
/// empty ones.
std::vector<std::string> variables_to_unset(const Env& env, Inherit inherit);

}  // namespace hpcboot
