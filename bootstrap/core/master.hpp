#pragma once

#include "hpcboot/resolve.hpp"
#include "selection.hpp"

// Where rank 0 can be reached, as far as the environment shows. The last step of resolve().
namespace hpcboot {

// @throws Error{stale_master_addr, malformed_value}
void choose_master(Resolution& resolution, const Selection& selection,
                   const std::optional<Allocation>& allocation, const Env& env, const Facts& facts);

}  // namespace hpcboot
