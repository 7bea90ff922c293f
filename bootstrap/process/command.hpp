#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot {

struct CommandOptions {
  std::string input;                               // its standard input
  std::optional<std::chrono::seconds> limit{10};   // then it is killed; nullopt: it has all time
  std::size_t most_bytes = std::size_t{1} << 20U;  // of output; then it is killed
};

struct CommandResult {
  bool is_started = false;  // else there is no such program, in PATH or by its path
  bool is_late = false;     // it was killed, and the output is what it had printed so far
  int exit_code = 127;      // as a shell has it: 128 + n after signal n
  std::string output;       // of standard output and error together, at most most_bytes
  int signal = 0;           // that ended it; 0: none

  bool is_ok() const { return exit_code == 0; }
};

// Why one that is not ok, or late, is of no use, with what it printed; without a line end at its
// end.
std::string failure_of(const CommandResult& result);

// Runs a program, in a process group of its own: what it has started is ended with it.
CommandResult run_command(const std::vector<std::string>& words,
                          const CommandOptions& options = {});

}  // namespace hpcboot
