#include "text/wrap.hpp"

#include <algorithm>

#include "text/display_width.hpp"

namespace hpcboot {
namespace {

std::vector<std::string> wrapped_line(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back(word);
      used = columns;
    } else {
      if (at > 0) lines.back() += ' ';
      lines.back() += word;
      used += columns + (at > 0 ? 1 : 0);
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    for (std::string& line : wrapped_line(text.substr(at, end - at), width))
      lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> wrapped_command(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return {std::string(text)};
  constexpr std::size_t kIndent = 4;
  std::vector<std::string> lines = wrapped_line(text, width - kIndent - 2);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) lines[i].insert(0, kIndent, ' ');
    if (i + 1 < lines.size()) lines[i] += " \\";
  }
  return lines;
}

}  // namespace hpcboot
