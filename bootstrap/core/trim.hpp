#pragma once

#include <algorithm>
#include <string_view>

namespace hpcboot {

// A line without the blanks at its ends, and without the carriage return of other systems.
inline std::string_view trim(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

}  // namespace hpcboot
