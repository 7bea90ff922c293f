#include "record/display_text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace hpcboot::record {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// From Unicode 15: the blocks that matter in names (EastAsianWidth.txt W and F; general category
// Mn).
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};

template <std::size_t N>
bool within(char32_t code_point, const Range (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

/// The code point at the start of `text`, which it is removed from. A byte that does not begin a
/// UTF-8 sequence is taken alone, as U+FFFD.
char32_t take_code_point(std::string_view& text) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto lead = static_cast<std::uint8_t>(text.front());
  const std::size_t length = lead < 0x80    ? 1
                             : lead >= 0xF0 ? 4
                             : lead >= 0xE0 ? 3
                             : lead >= 0xC0 ? 2
                                            : 0;
  if (length == 0 || lead >= 0xF8 || text.size() < length) {
    text.remove_prefix(1);
    return kReplacement;
  }
  char32_t code_point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xC0U) != 0x80U) {
      text.remove_prefix(1);
      return kReplacement;
    }
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  text.remove_prefix(length);
  return code_point;
}

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const char32_t code_point = take_code_point(text);
    if (!within(code_point, kZero)) width += within(code_point, kWide) ? 2U : 1U;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const bool control = is_control(take_code_point(text));
    result += control ? " " : before.substr(0, before.size() - text.size());
  }
  return result;
}

}  // namespace hpcboot::record
