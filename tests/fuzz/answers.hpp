#pragma once

#include <string>

#include "input.hpp"
#include "process/command.hpp"

namespace hpcboot::fuzz {

/// The output of the next command, whichever it is: the next text of the input. A command whose
/// text starts with "!" fails, and one without a text does not exist.
inline CommandResult next_answer(Input& input) {
  CommandResult result;
  if (input.at_end()) return result;
  std::string_view text = input.text();
  result.is_started = true;
  result.exit_code = text.substr(0, 1) == "!" ? 1 : 0;
  text.remove_prefix(static_cast<std::size_t>(result.exit_code));
  result.output = text;
  return result;
}

}  // namespace hpcboot::fuzz
