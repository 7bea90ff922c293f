#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "options/command.hpp"

namespace hpcboot::options {

/// What --help prints: the sentence, usage, examples, options by group, exit codes.
/// @param width of the terminal, in columns; at least 40
Encoded help_text(const Command& command, std::size_t width, bool has_colour);

/// The same for a program, with the list of its verbs.
Encoded help_text(const Program& program, std::size_t width, bool has_colour);

/// 80 columns, or those of the terminal on standard output if they are 40 to 100.
std::size_t help_width();

/// What help prints beside an option's names: its meaning and its default.
std::string described(const Option& option);

/// "-n, --ranks N", "--json"
std::string names_of(const Option& option);

}  // namespace hpcboot::options
