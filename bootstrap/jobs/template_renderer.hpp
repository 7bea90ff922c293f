#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hpcboot::jobscripts {

/// A value of a template. Sections are omitted for 0, false or empty values; a list repeats its
/// section, with {{.}} for the item.
using TemplateValue = std::variant<std::string, int, bool, std::vector<std::string>>;
using TemplateValues = std::map<std::string, TemplateValue>;

/// How {{name}} is quoted; {{{name}}} is inserted unchanged.
enum class Quoting { shell, yaml };

/// Mustache templates, by name, which include one another as {{>NAME}}.
class TemplateRenderer {
 public:
  explicit TemplateRenderer(std::map<std::string, std::string> templates)
      : templates_(std::move(templates)) {}

  /// @throws Error{malformed_file} if there is no template `name`, or, naming template, line and
  /// name, if one uses a name that is missing in `values` or a partial that does not exist
  std::string render(const std::string& name, const TemplateValues& values, Quoting quoting) const;

 private:
  void check_names(const std::string& name, const TemplateValues& values) const;

  std::map<std::string, std::string> templates_;
};

}  // namespace hpcboot::jobscripts
