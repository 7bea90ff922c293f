#pragma once

#include <vector>

#include "hpcboot/launch_source.hpp"

// What to advise if the innermost launcher's environment is refused.
namespace hpcboot {

/// source.read(), with a refusal that says how to overrule it: by another launcher of `present`
/// whose own environment is whole (one copied OMPI_COMM_WORLD_RANK beside a Slurm step), else by
/// HPCBOOT_METHODS=single.
/// @throws Error as source.read()
LaunchFacts read_or_advise(const LaunchSource& source,
                           const std::vector<const LaunchSource*>& present, const Env& env,
                           const Facts& facts);

}  // namespace hpcboot
