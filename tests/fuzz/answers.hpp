#pragma once

#include <string>

#include "input.hpp"
#include "process/command.hpp"

namespace hpcboot::fuzz {

/// What the next command prints, whichever it is: the input's next text. A command whose text
/// begins with "!" fails, and one that has none is not there.
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
