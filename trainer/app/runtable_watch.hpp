#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace hpcboot::app {

/// `runtable watch`: a run in progress, in the terminal.
options::Command watch_command();
/// @return the exit code. @throws options::UsageError, Error
int watch(const std::vector<std::string>& arguments);

}  // namespace hpcboot::app
