#pragma once

#include "granted.hpp"

namespace hpcboot::run {

// The hosts of the Flux instance that this process is in, and their resources. Flux sets no
// variables for them.
// @throws Error{backend_unavailable} if flux does not answer
void take_flux(Granted& granted, const Surroundings& s);

}  // namespace hpcboot::run
