#include "nearest_name.hpp"

#include <algorithm>

#include "core/word_distance.hpp"

namespace hpcboot {

std::string nearest_name(const std::string& given, const std::vector<std::string>& known) {
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& left, const auto& right) {
        return word_distance(given, left) < word_distance(given, right);
      });
  if (nearest == known.end()) return {};
  const std::size_t letters = std::max(given.size(), nearest->size());
  return word_distance(given, *nearest) * 3 <= letters ? *nearest : std::string();
}

std::string remedy_for_name(const std::string& given, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  return nearest.empty() ? "write one of these"
                         : "write " + nearest + ", if that is what you meant";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace hpcboot
