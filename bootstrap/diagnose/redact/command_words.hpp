#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace hpcboot::redaction {

/// A word of a command line, with the quotes around it.
struct CommandWord {
  std::size_t begin, end;
};

enum class Quotes { join, ignored };

/// Splits the text at white space; with Quotes::join, a quoted part belongs to its word. What ends
/// a command (; | & and the end of a line) is a word by itself.
std::vector<CommandWord> command_words(std::string_view text, Quotes quotes);

bool is_end_of_command(char c);

/// The word without quotes, brackets and commas at its ends.
std::string_view unquoted(std::string_view word);

/// The program that a word names: mysql for "/usr/bin/mysql", "$(mysql" and "COMMAND=mysql".
std::string_view program_of(std::string_view word);

}  // namespace hpcboot::redaction
