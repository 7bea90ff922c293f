#pragma once

#include "hpcboot/facts.hpp"

namespace hpcboot {

// Is this a software link local to the host, such as a container bridge or a tunnel? False if it
// carries the default route.
bool is_local_link(const Interface& interface, const Facts& facts);

}  // namespace hpcboot
