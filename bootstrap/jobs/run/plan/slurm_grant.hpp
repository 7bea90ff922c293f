#pragma once

#include "granted.hpp"

namespace hpcboot::run {

// What Slurm grants on the hosts of its job, by the variables that it sets.
// @throws Error{malformed_value}
void take_slurm(Granted& granted, const Env& env);

}  // namespace hpcboot::run
