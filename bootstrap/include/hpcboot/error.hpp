#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace hpcboot {

/// Why an operation failed. The number is the exit code of all programs of the project, so that job
/// scripts can act on it; numbers are never reused. 1 (failed check or run) and 2 (usage) are left
/// to the programs.
enum class ErrorCode : int {
  // 20..39: bootstrap
  malformed_value = 20,         ///< a variable has a value of the wrong kind
  missing_variable = 21,        ///< a launcher's environment is incomplete
  inconsistent_placement = 22,  ///< facts that contradict each other, such as rank >= world_size
  ambiguous_environment = 23,   ///< two launchers claim this process, neither nested in the other
  unknown_method = 24,          ///< HPCBOOT_METHODS names an unknown source
  malformed_hostlist = 25,      ///< a host list that violates Slurm's grammar
  hostlist_too_large = 26,      ///< a host list that exceeds the expansion limit
  unreadable_file = 27,         ///< a required file is missing or cannot be read
  malformed_file = 28,          ///< a file that does not have the expected format
  needs_exchange = 29,          ///< the environment is insufficient; an exchange is required
  backend_unavailable = 30,  ///< a library or feature is missing in this build or on this machine
  exchange_failed = 31,      ///< PMIx or another exchange reported an error
  deadline_exceeded = 32,    ///< a rank, a store or a peer did not respond in time
  no_usable_interface = 33,  ///< no network interface fits, or the requested one does not exist
  stale_master_addr = 34,    ///< MASTER_ADDR names a host on which rank 0 does not run
  unknown_launcher = 35,     ///< variables with a rank and a size, set by an unknown launcher
  // 40..63: trainer
  missing_data = 40,       ///< the data folder contains no data set
  malformed_data = 41,     ///< a data file is damaged
  unwritable_output = 42,  ///< the run folder cannot be created or written
  invalid_model_use = 43,  ///< unused parameters, a wrong shape, a model that does not fit the data
  peer_lost = 44,          ///< a rank left during training
  diverged = 45,           ///< the loss is no longer a finite number
  stopped = 46,            ///< stopped early with a checkpoint: restart to continue
  out_of_memory = 47,      ///< not enough memory on the host or the device
  run_in_use = 48,         ///< another process is using the run folder
  invalid_collective = 49,  ///< a collective that cannot be done, or a group that was shut down
};

/// The identifier of a code, as above: "malformed_value".
std::string_view name_of(ErrorCode code) noexcept;

/// A failure that reports what was found, what was expected and what to do. Thrown by all code of
/// this project; what() returns the three parts on one line.
class Error : public std::exception {
 public:
  /// Each part is a clause without a final full stop; none may be empty.
  Error(ErrorCode code, std::string found, std::string expected, std::string remedy);

  ErrorCode code() const noexcept { return code_; }
  int exit_code() const noexcept { return static_cast<int>(code_); }
  const std::string& found() const noexcept { return found_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& remedy() const noexcept { return remedy_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorCode code_;
  std::string found_;
  std::string expected_;
  std::string remedy_;
  std::string what_;
};

/// The error as a program prints it on stderr, each part on its own line, with control characters
/// made visible (terminal_text()):
///     hpcboot: error 20 (malformed_value)
///       found:    SLURM_PROCID='1x'
///       expected: a whole number from 0 to 2147483647
///       do:       …
std::string format_error(std::string_view program, const Error& error);

}  // namespace hpcboot
