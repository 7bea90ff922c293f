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
  constexpr std::size_t kShown = 16;
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + some_of(numbers, kShown);
}

}  // namespace hpcboot
