#include "template_renderer.hpp"

#include <algorithm>
#include <mstch/mstch.hpp>
#include <regex>

#include "core/nearest_name.hpp"
#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::jobscripts {
namespace {

constexpr const char* kSuffix = ".mustache";

mstch::node node_of(const TemplateValue& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value))
    return mstch::array(list->begin(), list->end());
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<int>(&value)) return *number;
  return std::get<bool>(value);
}

int line_of(const std::string& text, std::ptrdiff_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + position, '\n'));
}

}  // namespace

std::string TemplateRenderer::render(const std::string& name, const TemplateValues& values,
                                     Quoting quoting) const {
  check_names(name, values);
  mstch::map root;
  for (const auto& [key, value] : values) root.insert({key, node_of(value)});
  mstch::config::escape = [quoting](const std::string& text) {
    return quoting == Quoting::shell ? bash_quote(text) : yaml_scalar(text);
  };
  return mstch::render(templates_.at(name), root, templates_);
}

// mstch renders unknown names as empty text.
void TemplateRenderer::check_names(const std::string& name, const TemplateValues& values) const {
  static const std::regex kTag(R"(\{\{\{?\s*([#^/>&!]?)\s*([^}\s]*)\s*\}\}\}?)");
  const auto found = templates_.find(name);
  if (found == templates_.end()) {
    throw Error(ErrorCode::malformed_file, "there is no template " + name + kSuffix,
                "a template for the site's scheduler", "add it to jobscripts/templates");
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : values) keys.push_back(key);
  std::vector<std::string> parts;
  for (const auto& [part, text] : templates_) parts.push_back(part);

  const std::string& text = found->second;
  for (std::sregex_iterator tag(text.begin(), text.end(), kTag), end; tag != end; ++tag) {
    const std::string kind = (*tag)[1];
    const std::string used = (*tag)[2];
    if (kind == "!" || (used == "." && kind.empty())) continue;
    const bool is_part = kind == ">";
    if (is_part ? templates_.count(used) != 0 : values.count(used) != 0) {
      if (is_part) check_names(used, values);
      continue;
    }
    throw Error(ErrorCode::malformed_file,
                name + kSuffix + ":" + std::to_string(line_of(text, tag->position())) + ": " +
                    tag->str() + (is_part ? " is not a template" : " is not a value"),
                "one of " + listed(is_part ? parts : keys),
                remedy_for_name(used, is_part ? parts : keys));
  }
}

}  // namespace hpcboot::jobscripts
