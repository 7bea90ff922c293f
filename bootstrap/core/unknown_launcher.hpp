#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// A process that no known launcher placed: is it alone, or did a launcher start it that nobody
// described?
namespace hpcboot {

/// Refuses to answer "rank 0 of 1" where an index and a size after the same prefix stand in the
/// environment (FOO_RANK=3, FOO_SIZE=8), unless a known launcher or scheduler declares them: both
/// plain decimals, size > 1 and index < size. What arrays and CI systems set is never an identity.
/// @throws Error{unknown_launcher} that names both variables
void require_no_unknown_launcher(const Env& env);

/// Hints for a process that is alone: an index or a size that stands without the other, as
/// "FOO_RANK=3 looks like a rank".
std::vector<std::string> lone_identity_hints(const Env& env);

}  // namespace hpcboot
