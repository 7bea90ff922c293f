#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hpcboot {

/// A character at the start of a text.
struct Utf8Character {
  char32_t code_point = 0;  ///< meaningless if the byte is not valid UTF-8
  std::size_t bytes = 1;
  bool is_valid = false;
};

/// The first character of `text`, which must not be empty. A byte that starts no well-formed
/// sequence (RFC 3629 excludes overlong forms, surrogates and values beyond U+10FFFF) is returned
/// alone.
inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(text[i]);
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code_point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code_point = code_point << 6U | (byte(i) & 0x3FU);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[length] || code_point > 0x10FFFF || is_surrogate) return {};
  return {code_point, length, true};
}

}  // namespace hpcboot
