#pragma once

#include <string_view>

namespace hpcboot {

/// Editors of other systems begin UTF-8 with it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline bool has_byte_order_mark(std::string_view text) {
  return text.substr(0, kByteOrderMark.size()) == kByteOrderMark;
}

}  // namespace hpcboot
