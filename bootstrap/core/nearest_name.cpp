#include "core/nearest_name.hpp"

#include <algorithm>

#include "core/word_distance.hpp"

namespace hpcboot {

std::string nearest_name(const std::string& given, const std::vector<std::string>& known) {
  std::size_t letters = given.size();
  for (const std::string& name : known) letters = std::max(letters, name.size());
  std::size_t least = letters / 3 + 1;  // no name is as far away
  std::string nearest;
  for (const std::string& name : known) {
    const std::size_t distance = word_distance(given, name, least);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return least * 3 <= std::max(given.size(), nearest.size()) ? nearest : std::string();
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
