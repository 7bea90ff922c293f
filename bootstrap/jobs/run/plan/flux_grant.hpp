#pragma once

#include "granted.hpp"

namespace hpcboot::run {

// The hosts of the Flux instance that this process is in, and what they have. Flux has no
// variables of them.
// @throws Error{backend_unavailable} where flux does not answer
void take_flux(Granted& granted, const Surroundings& s);

}  // namespace hpcboot::run
