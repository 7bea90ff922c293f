#pragma once

#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// Distinguishes this launch from others that use the same store, port or folder. Equal on all
/// ranks: it contains nothing that is known on one host only. Not for users, and not a secret.
std::string launch_identity(const Resolution& resolution, const Env& env);

}  // namespace hpcboot
