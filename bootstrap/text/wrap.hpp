#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

/// Lines of at most `width` columns, broken at spaces; a longer word has a line of its own.
/// Line ends within the text stay. One empty line of an empty text.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// A command line, which goes on behind a backslash, indented by four.
std::vector<std::string> wrapped_command(std::string_view text, std::size_t width);

}  // namespace hpcboot
