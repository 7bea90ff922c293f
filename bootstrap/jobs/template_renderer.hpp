#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hpcboot::jobscripts {

/// What a template may name. A number, a truth or a text that is 0, false or empty is a section
/// that is left out; a list repeats its section, with {{.}} for the item.
using TemplateValue = std::variant<std::string, int, bool, std::vector<std::string>>;
using TemplateValues = std::map<std::string, TemplateValue>;

/// How {{name}} is written; {{{name}}} is as it stands.
enum class Quoting { shell, yaml };

/// Mustache templates, by name, which take one another as {{>NAME}}.
class TemplateRenderer {
 public:
  explicit TemplateRenderer(std::map<std::string, std::string> templates)
      : templates_(std::move(templates)) {}

  /// @throws Error{malformed_file} if there is no template `name`, or naming
  /// template, line and name if one uses a name that `values` lacks or a part that is not there
  std::string render(const std::string& name, const TemplateValues& values, Quoting quoting) const;

 private:
  void check_names(const std::string& name, const TemplateValues& values) const;

  std::map<std::string, std::string> templates_;
};

}  // namespace hpcboot::jobscripts
