#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::lint {

// The long option of sbatch that `written` stands for: sbatch accepts every unique prefix of a name
// (--part=gpu), and --tasks-per-node for --ntasks-per-node. Unknown names are returned unchanged.
std::string slurm_option_name(std::string_view written);

// What a long option that sbatch does not know may stand for: nothing, as for options that a site's
// plug-ins add; an option that only srun has; the nearest option, if it is close; or the options of
// which it is a prefix.
struct UnknownOption {
  bool is_of_srun = false;
  std::string nearest;
  std::vector<std::string> beginnings;  // two or more
};
UnknownOption unknown_slurm_option(std::string_view written);

}  // namespace hpcboot::lint
