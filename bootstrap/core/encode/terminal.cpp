#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <utility>

#include "hpcboot/encode.hpp"
#include "utf8.hpp"

namespace hpcboot {
namespace {

// Inclusive ranges of code points that a terminal does not show as a character in place. Those of
// Unicode 16 are the general categories Cc, Cf, Zl and Zp, and the property
// Default_Ignorable_Code_Point, except Prepended_Concatenation_Mark, which has a glyph, and except
// U+200C, U+200D and the variation selectors: Persian, Indic scripts, Mongolian, ideographs and
// emoji need them. setup/lib/text.sh has the same ranges; tests/shell/encoders.bats compares both.
constexpr std::pair<char32_t, char32_t> kUnseen[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x034F, 0x034F},
    {0x061C, 0x061C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180E, 0x180E},
    {0x200B, 0x200B},   {0x200E, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF},
    {0xE01F0, 0xE0FFF}};

bool is_unseen(char32_t code_point) {
  return std::any_of(std::begin(kUnseen), std::end(kUnseen), [code_point](const auto& range) {
    return code_point >= range.first && code_point <= range.second;
  });
}

std::string hexadecimal(std::uint32_t number) {
  std::string digits;
  for (; number > 0 || digits.size() < 2; number /= 16) {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  }
  return digits;
}

std::string made_visible(const Utf8Character& character, char byte) {
  if (!character.is_valid) return "\\x" + hexadecimal(static_cast<unsigned char>(byte));
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  if (character.bytes == 1) return "\\x" + hexadecimal(character.code_point);
  return "\\u{" + hexadecimal(character.code_point) + "}";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Encoded& text) {
  return out << text.str();
}

Encoded terminal_text(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.is_valid && !is_unseen(character.code_point)) {
      line += text.substr(0, character.bytes);
    } else {
      line += made_visible(character, text.front());
    }
    text.remove_prefix(character.bytes);
  }
  return Encoded::as_is(std::move(line));
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (!character.is_valid || is_unseen(character.code_point)) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

}  // namespace hpcboot
