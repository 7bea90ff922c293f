#pragma once

#include <map>
#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::train {

/// Variables to add to the environment before OpenMP's runtime is loaded, so that its threads wait
/// for work in a loop for a short time only. Waking a thread takes microseconds, so some of it is
/// faster than none; by default they wait so long that they take the cores from other programs of
/// a busy host, and from each other.
/// @param env what it sets about waiting stays: OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME
std::map<std::string, std::string> spinning_limits(const Env& env);

}  // namespace hpcboot::train
