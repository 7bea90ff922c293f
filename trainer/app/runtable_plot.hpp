#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace hpcboot::app {

/// `runtable plot`: pictures of finished runs.
options::Command plot_command();
/// @return the exit code. @throws options::UsageError, Error
int plot(const std::vector<std::string>& arguments);

}  // namespace hpcboot::app
