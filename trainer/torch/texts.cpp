#include "texts.hpp"

namespace hpcboot {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string some_of(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() <= shown) return text;
  return text + " and " + std::to_string(names.size() - shown) + " more";
}

std::string names_of(const std::vector<int>& ranks) {
  constexpr int kShown = 16;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t next = 0;
  for (int shown = 0; next < ranks.size() && shown < kShown; ++shown) {
    std::size_t last = next;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last == next + 1) last = next;  // "4, 5" is as short as "4-5"
    text += (next == 0 ? "" : ", ") + std::to_string(ranks[next]);
    if (last > next) text += "-" + std::to_string(ranks[last]);
    next = last + 1;
  }
  if (next == ranks.size()) return text;
  return text + " and " + std::to_string(ranks.size() - next) + " more";
}

}  // namespace hpcboot
