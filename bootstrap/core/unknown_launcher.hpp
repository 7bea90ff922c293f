#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/launch_source.hpp"

// A process that no known launcher placed: is it alone, or did an unknown launcher start it?
namespace hpcboot {

/// Refuses to answer "rank 0 of 1" if the environment has an index and a size with a common prefix
/// (FOO_RANK=3, FOO_SIZE=8): both plain decimals, size > 1 and index < size. Variables of
/// schedulers, job arrays and CI systems never identify a rank.
/// @param refused sources that know who set their required variables, and that it was no launcher
/// @throws Error{unknown_launcher} that names both variables
void require_no_unknown_launcher(const Env& env, const std::vector<const LaunchSource*>& refused);

/// The variables of such pairs.
std::set<std::string, std::less<>> unknown_identities(const Env& env);

/// At most 8 hints for a single process: an index without a size or the reverse, as in "FOO_RANK=3
/// looks like a rank".
std::vector<std::string> lone_identity_hints(const Env& env);

}  // namespace hpcboot
