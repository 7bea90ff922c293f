#pragma once

#include "granted.hpp"

namespace hpcboot::run {

// The number of GPUs in a value of Slurm: "2", "a100:2". nullopt if there is none.
std::optional<int> slurm_gpus_in(std::string_view value);

// `--gpus` counts the GPUs of all hosts of a Slurm job, which may get different numbers of them.
// Asks `scontrol` for those of each host; an answer that does not name them changes nothing.
void count_slurm_gpus(Granted& granted, const Surroundings& s);

}  // namespace hpcboot::run
