#include "text/display_width.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/encode/utf8.hpp"

namespace hpcboot {
namespace {

using Range = std::pair<char32_t, char32_t>;

// The blocks of Unicode 15 that matter in names (EastAsianWidth.txt W and F; general category Mn).
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};

template <std::size_t N>
bool within(char32_t code_point, const Range (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.second;
  });
}

std::size_t width_of(const Utf8Character& character) {
  if (!character.is_valid || character.code_point < kZero[0].first) return 1;
  if (within(character.code_point, kZero)) return 0;
  return within(character.code_point, kWide) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    text.remove_prefix(character.bytes);
    width += width_of(character);
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t most) {
  std::size_t width = 0;
  std::size_t kept = 0;  // bytes
  for (std::size_t end = 0; end < text.size();) {
    const Utf8Character character = first_character(text.substr(end));
    end += character.bytes;
    width += width_of(character);
    if (width > most) return std::string(text.substr(0, kept)) + "…";
    if (width < most) kept = end;
  }
  return std::string(text);
}

std::string cut_in_the_middle(std::string_view text, std::size_t most) {
  std::size_t width = display_width(text);
  if (width <= most) return std::string(text);
  const std::size_t part = (most - 1) / 2;
  std::string start = cut_to_width(text, part + 1);
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::size_t own = width_of(character);
    if (width <= part && own > 0) break;  // not at a mark of the character before
    text.remove_prefix(character.bytes);
    width -= own;
  }
  return start.append(text);
}

}  // namespace hpcboot
