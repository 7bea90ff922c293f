#pragma once

#include <optional>

#include "app/verbs.hpp"

namespace hpcboot::app {

/// Parses the command line of `command`, which may set variables. Returns nothing if it answered
/// --help or --version. @throws UsageError, options::UsageError
std::optional<options::Parsed> parse(const options::Command& command, const Arguments& arguments);

}  // namespace hpcboot::app
