#pragma once

#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// What tells this launch from another one that uses the same store, port or folder; equal on all
/// ranks, whichever host they are on: nothing that one host only knows is part of it. Text for
/// machines, and no secret.
std::string launch_identity(const Resolution& resolution, const Env& env);

}  // namespace hpcboot
