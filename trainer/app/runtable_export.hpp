#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace hpcboot::app {

/// `runtable export`: finished runs in the formats of other tools.
options::Command export_command();
/// @return the exit code. @throws options::UsageError, Error
int export_runs(const std::vector<std::string>& arguments);

}  // namespace hpcboot::app
