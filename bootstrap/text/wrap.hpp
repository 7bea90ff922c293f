#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

/// Lines of at most `width` columns, broken at spaces; a longer word gets its own line. Newlines in
/// the text are kept. An empty text gives one empty line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// A command line, continued after a backslash with an indentation of four.
std::vector<std::string> wrapped_command(std::string_view text, std::size_t width);

}  // namespace hpcboot
