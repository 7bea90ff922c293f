#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace hpcboot::app {

/// `runtable diff`: what differs between two runs, and what it did.
options::Command diff_command();
/// @return the exit code. @throws options::UsageError, Error
int diff(const std::vector<std::string>& arguments);

}  // namespace hpcboot::app
