#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// A process that no known launcher placed: is it alone, or did a launcher start it that nobody
// described?
namespace hpcboot {

/// Refuses to answer "rank 0 of 1" where an index and a size after the same prefix stand in the
/// environment (FOO_RANK=3, FOO_SIZE=8): both plain decimals, size > 1 and index < size. What
/// schedulers, arrays and CI systems set is never an identity.
/// @throws Error{unknown_launcher} that names both variables
void require_no_unknown_launcher(const Env& env);

/// The variables of such pairs.
std::set<std::string, std::less<>> unknown_identities(const Env& env);

/// Hints for a process that is alone, at most 8: an index or a size that stands without the other,
/// as "FOO_RANK=3 looks like a rank".
std::vector<std::string> lone_identity_hints(const Env& env);

}  // namespace hpcboot
