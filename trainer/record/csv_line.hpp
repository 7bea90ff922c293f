#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace hpcboot::record {

/// No table of a run has longer lines; a damaged file may be one line of any length.
constexpr std::size_t kLongestLine = 1 << 16;

/// Reads a line without its newline; of a line that is too long, kLongestLine + 1 characters.
/// @return whether there is one; `in` is at its end if that line has no newline
bool read_line(std::istream& in, std::string& line);

}  // namespace hpcboot::record
