#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::lint {

// The long option of sbatch that `written` stands for: sbatch takes every unique beginning of a
// name
// (--part=gpu), and --tasks-per-node for --ntasks-per-node. What it does not know comes back as it
// is.
std::string slurm_option_name(std::string_view written);

// What sbatch makes of a long option that it does not know: nothing, as of options that a site's
// plug-ins add; the one that is nearest, if that is near; or those of which it is the beginning.
struct UnknownOption {
  std::string nearest;
  std::vector<std::string> beginnings;  // two or more
};
UnknownOption unknown_slurm_option(std::string_view written);

}  // namespace hpcboot::lint
