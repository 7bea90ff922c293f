#pragma once

#include <string>
#include <vector>

namespace hpcboot::tool {

// The folder that this command writes its runs to if it is the trainer; empty for any other
// program.
std::string runs_dir_of(const std::vector<std::string>& command);

}  // namespace hpcboot::tool
