#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace hpcboot {

// Writes the whole text, also if it takes several calls. @return false, with errno, if it cannot
inline bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace hpcboot
