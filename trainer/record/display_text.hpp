#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// How many terminal columns a UTF-8 text takes: 2 for East Asian wide characters and emoji, 0 for
/// combining marks, 1 for all else, a byte that is not UTF-8 included.
std::size_t display_width(std::string_view text);

/// `text` with every control character made a space: a record's text can then neither break a line
/// nor steer a terminal.
std::string printable(std::string_view text);

}  // namespace hpcboot::record
