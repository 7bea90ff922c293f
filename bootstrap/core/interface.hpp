#pragma once

#include "hpcboot/facts.hpp"

namespace hpcboot {

// Did software make this link for the host alone, such as a bridge of containers or a tunnel? Not
// one that the default route leads over.
bool is_local_link(const Interface& interface, const Facts& facts);

}  // namespace hpcboot
