#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

/// The first line; c10d and c10 append source locations and a stack trace.
std::string first_line(std::string_view text);

/// "a, b and 2 more": if thousands are meant, a few names suffice. Empty if there are none.
/// @param shown how many names appear at most
std::string some_of(const std::vector<std::string>& names, std::size_t shown);

/// "rank 3", "ranks 1, 3, 5-8 and 9 more". Empty lists have no name.
std::string names_of(const std::vector<int>& ranks);

}  // namespace hpcboot
