#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace hpcboot::app {

/// `runtable report`: one page with everything about the runs.
options::Command report_command();
/// @return the exit code. @throws options::UsageError, Error
int report(const std::vector<std::string>& arguments);

}  // namespace hpcboot::app
