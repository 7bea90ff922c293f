#pragma once

#include <vector>

#include "nesting.hpp"

// The error and advice if the innermost launcher's environment is rejected.
namespace hpcboot {

/// Throws the error of `damaged`, with advice on how to override it: choose another launcher of
/// `claims` whose environment is complete (a Slurm step with one stray OMPI_COMM_WORLD_RANK), else
/// set HPCBOOT_METHODS=single.
/// @throws Error with the code of damaged.damage
[[noreturn]] void refuse(const Claim& damaged, const std::vector<Claim>& claims);

}  // namespace hpcboot
