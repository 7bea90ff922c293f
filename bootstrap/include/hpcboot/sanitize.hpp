#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// What a launch that is started from within another one may still see.
enum class Inherit {
  allocation,  ///< the scheduler's job and hosts: mpirun and srun find their resources there
  nothing,     ///< as outside any job
};

/// The variables of `env` that say who this process is in the launch that it belongs to: ranks,
/// sizes, the PMI and PMIx connection, the endpoint, and what srun passes on of a step's own
/// options. A launcher that is started with them would take itself for a rank of the outer launch.
/// Settings that a user chose (OMPI_MCA_btl, PMIX_MCA_*, I_MPI_*, NCCL_*, device masks) are not
/// among them. Without the variables resolve() answers "single". Sorted by name; only those that
/// are set, empty ones too.
std::vector<std::string> variables_to_unset(const Env& env, Inherit inherit);

}  // namespace hpcboot
