#include "hpcboot/error.hpp"

#include <utility>

#include "hpcboot/encode.hpp"

namespace hpcboot {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::malformed_value:
      return "malformed_value";
    case ErrorCode::missing_variable:
      return "missing_variable";
    case ErrorCode::inconsistent_placement:
      return "inconsistent_placement";
    case ErrorCode::ambiguous_environment:
      return "ambiguous_environment";
    case ErrorCode::unknown_method:
      return "unknown_method";
    case ErrorCode::malformed_hostlist:
      return "malformed_hostlist";
    case ErrorCode::hostlist_too_large:
      return "hostlist_too_large";
    case ErrorCode::unreadable_file:
      return "unreadable_file";
    case ErrorCode::malformed_file:
      return "malformed_file";
    case ErrorCode::needs_exchange:
      return "needs_exchange";
    case ErrorCode::backend_unavailable:
      return "backend_unavailable";
    case ErrorCode::exchange_failed:
      return "exchange_failed";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::no_usable_interface:
      return "no_usable_interface";
    case ErrorCode::stale_master_addr:
      return "stale_master_addr";
    case ErrorCode::unknown_launcher:
      return "unknown_launcher";
    case ErrorCode::missing_data:
      return "missing_data";
    case ErrorCode::malformed_data:
      return "malformed_data";
    case ErrorCode::unwritable_output:
      return "unwritable_output";
    case ErrorCode::invalid_model_use:
      return "invalid_model_use";
    case ErrorCode::peer_lost:
      return "peer_lost";
    case ErrorCode::diverged:
      return "diverged";
    case ErrorCode::stopped:
      return "stopped";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::run_in_use:
      return "run_in_use";
    case ErrorCode::invalid_collective:
      return "invalid_collective";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string found, std::string expected, std::string remedy)
    : code_(code),
      found_(std::move(found)),
      expected_(std::move(expected)),
      remedy_(std::move(remedy)),
      what_("found: " + found_ + "; expected: " + expected_ + "; do: " + remedy_) {}

std::string format_error(std::string_view program, const Error& error) {
  std::string text(program);
  text += ": error " + std::to_string(error.exit_code()) + " (";
  text += name_of(error.code());
  const auto line = [](const std::string& part) { return terminal_text(part).str() + "\n"; };
  text += ")\n  found:    " + line(error.found()) + "  expected: " + line(error.expected()) +
          "  do:       " + line(error.remedy());
  return text;
}

}  // namespace hpcboot
