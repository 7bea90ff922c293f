#pragma once

#include <cstddef>
#include <string_view>

namespace hpcboot {

/// How many terminal columns a UTF-8 text takes: 2 for East Asian wide characters and emoji, 0 for
/// combining marks, 1 for all else, a byte that is not UTF-8 included.
std::size_t display_width(std::string_view text);

}  // namespace hpcboot
