#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot::fuzz {

/// Splits an input, for programs whose input is a sequence of steps. Bytes beyond its end read as
/// zeros.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  std::uint8_t u8() {
    const std::string_view byte = take(1);
    return byte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(byte.front());
  }

  /// At most `size` bytes; fewer at the end.
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, std::min(size, rest_.size()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  /// The bytes up to a form feed, which separates readable texts; all bytes if there is none.
  std::string_view text() {
    const std::string_view text = take(rest_.find('\f'));
    take(1);
    return text;
  }

 private:
  std::string_view rest_;
};

/// Changes some, all or none of the bytes. @return whether anything was changed
inline bool change(Input& input, std::string& bytes) {
  const std::string before = bytes;
  const unsigned how = input.u8();
  if (how == 255) {
    const std::string_view others = input.take(bytes.size());
    bytes.replace(0, others.size(), others);
  } else if (!bytes.empty()) {
    for (unsigned i = 0; i < how % 4; ++i)
      bytes[input.u8() % bytes.size()] ^= static_cast<char>(input.u8());
  }
  return bytes != before;
}

}  // namespace hpcboot::fuzz
