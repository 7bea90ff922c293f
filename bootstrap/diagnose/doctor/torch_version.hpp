#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/facts.hpp"

// The version of PyTorch that torchrun's agent has loaded, found without starting Python.
namespace hpcboot::doctor {

// The folder of the package, from the text of a /proc/PID/maps; empty if torch is not loaded.
std::string torch_folder_in(std::string_view maps);

// "2.7.1+cu128", from the text of torch/version.py; empty if it contains no valid version.
std::string torch_version_in(std::string_view version_py);

// The version in the nearest of these processes that has torch loaded; empty if unknown.
std::string torch_version_above(const std::vector<Ancestor>& ancestors);

}  // namespace hpcboot::doctor
