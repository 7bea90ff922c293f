#pragma once

#include "hpcboot/resolve.hpp"
#include "selection.hpp"

// Fills the gaps that a launcher leaves. The second step of resolve().
namespace hpcboot {

// Sets placement, hosts and their provenance from the launcher's variables, then by rule, then from
// the allocation if the world and local sizes confirm it.
// @throws Error{needs_exchange, inconsistent_placement}
void complete_placement(Resolution& resolution, const Selection& selection,
                        const std::optional<Allocation>& allocation, const Env& env,
                        const Facts& facts);

}  // namespace hpcboot
