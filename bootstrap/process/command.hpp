#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot {

struct CommandOptions {
  std::string input;                               // for its standard input
  std::optional<std::chrono::seconds> limit{10};   // then it is killed; nullopt: no limit
  std::size_t most_bytes = std::size_t{1} << 20U;  // of output; then it is killed
  // Those of SIGINT, SIGTERM and SIGHUP that the caller has blocked are passed on to the program; a
  // second one kills it. The first stays pending for the caller.
  bool passes_signals = false;
};

struct CommandResult {
  bool is_started = false;  // false: there is no such program, in PATH or at its path
  bool is_late = false;     // it was killed; `output` is what it had printed so far
  int exit_code = 127;      // as in a shell: 128 + n after signal n
  std::string output;       // standard output and error together, at most most_bytes
  int signal = 0;           // the signal that ended it; 0: none

  bool is_ok() const { return exit_code == 0; }
};

// Why a command failed or was late, with its output; without a trailing newline.
std::string failure_of(const CommandResult& result);

// Runs a program in its own process group, so that its children are killed with it. It is over when
// the program has ended, even if one of them still has its output open.
CommandResult run_command(const std::vector<std::string>& words,
                          const CommandOptions& options = {});

}  // namespace hpcboot
