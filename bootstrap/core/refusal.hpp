#pragma once

#include <vector>

#include "nesting.hpp"

// What to advise if the innermost launcher's environment is refused.
namespace hpcboot {

/// Throws what is wrong with `damaged`, and says how to overrule it: by another launcher of
/// `claims` whose own environment is whole (one copied OMPI_COMM_WORLD_RANK beside a Slurm step),
/// else by HPCBOOT_METHODS=single.
/// @throws Error, that of damaged.damage
[[noreturn]] void refuse(const Claim& damaged, const std::vector<Claim>& claims);

}  // namespace hpcboot
