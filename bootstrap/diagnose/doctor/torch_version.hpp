#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/facts.hpp"

// Which PyTorch runs torchrun's agent, without starting Python: the agent has it loaded.
namespace hpcboot::doctor {

// The folder of the package, by the text of a /proc/PID/maps; empty if torch is not loaded.
std::string torch_folder_in(std::string_view maps);

// "2.7.1+cu128" of torch/version.py; empty if it says none, or anything else than a version.
std::string torch_version_in(std::string_view version_py);

// Of the nearest of these processes that has torch loaded; empty if that is not known.
std::string torch_version_above(const std::vector<Ancestor>& ancestors);

}  // namespace hpcboot::doctor
