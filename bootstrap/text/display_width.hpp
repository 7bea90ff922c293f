#pragma once

#include <cstddef>
#include <string_view>

namespace hpcboot {

/// The number of terminal columns of a UTF-8 text: 2 for East Asian wide characters and emoji, 0
/// for combining marks, 1 for everything else, including a byte that is not UTF-8.
std::size_t display_width(std::string_view text);

}  // namespace hpcboot
