#include "xml_elements.hpp"

#include <utility>

namespace hpcboot {

std::optional<std::string_view> element_in(std::string_view text, const std::string& name) {
  // With attributes or without: <job_list state="running">.
  const std::string mark = "<" + name;
  std::size_t begin = text.find(mark);
  while (begin != std::string_view::npos) {
    const std::size_t after = begin + mark.size();
    if (after < text.size() && (text[after] == '>' || text[after] == ' ')) break;
    begin = text.find(mark, after);
  }
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t open = text.find('>', begin);
  if (open == std::string_view::npos) return std::nullopt;
  text.remove_prefix(open + 1);
  const std::size_t end = text.find("</" + name + ">");
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

std::string xml_text(std::string_view text) {
  static const std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}, {"&quot;", '"'}};
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [entity, character] : kEntities) {
      if (text.substr(0, entity.size()) != entity) continue;
      taken = entity.size();
      c = character;
    }
    plain += c;
    text.remove_prefix(taken);
  }
  return plain;
}

}  // namespace hpcboot
