#pragma once

#include "granted.hpp"

namespace hpcboot::run {

// What Slurm grants on the hosts of its job, by the variables that it sets, and by `scontrol` for
// what no variable says. @throws Error{malformed_value}
void take_slurm(Granted& granted, const Surroundings& s);

}  // namespace hpcboot::run
