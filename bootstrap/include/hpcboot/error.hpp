#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace hpcboot {

/// Why an operation failed. The number is the exit code of every program of the project, so a job
/// script can act on it; numbers are never reused. 1 (failed check or run) and 2 (usage) are left
/// to the programs.
enum class ErrorCode : int {
  // 20..39: bootstrap
  malformed_value = 20,         ///< a variable holds something that is not of its kind
  missing_variable = 21,        ///< a launcher's environment is there in part only
  inconsistent_placement = 22,  ///< facts that cannot all be true, such as rank >= world_size
  ambiguous_environment = 23,   ///< two launchers claim this process and neither nests in the other
  unknown_method = 24,          ///< HPCBOOT_METHODS names a source that does not exist
  malformed_hostlist = 25,      ///< a host list that Slurm's grammar does not allow
  hostlist_too_large = 26,      ///< a host list beyond the expansion limit
  unreadable_file = 27,         ///< a file that is needed is missing or cannot be read
  malformed_file = 28,          ///< a file that is read but not of its format
  needs_exchange = 29,  ///< the environment alone does not say; an exchange between ranks would
  backend_unavailable = 30,  ///< a library or feature that this build or machine lacks
  exchange_failed = 31,      ///< PMIx or another exchange reported an error
  deadline_exceeded = 32,    ///< a rank, a store or a peer did not come in time
  no_usable_interface = 33,  ///< no network interface fits, or the one asked for does not exist
  stale_master_addr = 34,    ///< MASTER_ADDR names a host that is not rank 0's
  unknown_launcher = 35,     ///< an index and a size of a launcher that nobody described
  // 40..63: trainer
  missing_data = 40,       ///< the data folder has no data set
  malformed_data = 41,     ///< a data file is damaged
  unwritable_output = 42,  ///< the run folder cannot be made or written
  invalid_model_use = 43,  ///< unused parameters, a wrong shape, a model that does not fit the data
  peer_lost = 44,          ///< a rank left during training
  diverged = 45,           ///< the loss is no longer a finite number
  stopped = 46,            ///< ended in order before its end, with a checkpoint: start it again
  out_of_memory = 47,      ///< the memory of the host or the device does not suffice
  run_in_use = 48,         ///< another process trains in that run folder
};

/// The identifier of a code, as written above: "malformed_value".
std::string_view name_of(ErrorCode code) noexcept;

/// A failure that tells its user what was found, what was expected and what to do.
/// Thrown by everything in this project; what() is the three parts in one line.
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

/// The error as a program prints it on stderr, each part on a line of its own, with what is not for
/// a terminal made visible (terminal_text()):
///     hpcboot: error 20 (malformed_value)
///       found:    SLURM_PROCID='1x'
///       expected: a whole number from 0 to 2147483647
///       do:       …
std::string format_error(std::string_view program, const Error& error);

}  // namespace hpcboot
