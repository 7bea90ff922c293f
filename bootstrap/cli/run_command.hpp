#pragma once

#include <string>
#include <vector>

namespace hpcboot::tool {

struct CommandResult {
  int code = 0;        ///< as a shell has it: 128 + n after signal n
  std::string output;  ///< of standard output and error together
};

/// Runs a program that is found in PATH, and waits for it.
/// @throws Error{backend_unavailable} where it is not there; `remedy` says what to do then
CommandResult run_command(const std::vector<std::string>& words, const std::string& remedy);

}  // namespace hpcboot::tool
