#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpcboot {

/// The number of terminal columns of a UTF-8 text: 2 for East Asian wide characters and emoji, 0
/// for combining marks, 1 for everything else, including a byte that is not UTF-8.
std::size_t display_width(std::string_view text);

/// The beginning of a UTF-8 text, at most `most` columns wide (`most` > 0); "…" marks the cut.
std::string cut_to_width(std::string_view text, std::size_t most);

/// The beginning and the end of a UTF-8 text, with as many columns of each.
std::string cut_in_the_middle(std::string_view text, std::size_t most);

}  // namespace hpcboot
