#pragma once

#include <string>
#include <string_view>

namespace hpcboot::lint {

// The long option of sbatch that `written` stands for: sbatch takes every unique beginning of a
// name
// (--part=gpu), and --tasks-per-node for --ntasks-per-node. What it does not know comes back as it
// is.
std::string slurm_option_name(std::string_view written);

}  // namespace hpcboot::lint
