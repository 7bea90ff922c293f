#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace hpcboot::jobscripts {

/// What a template may name. A number, a truth or a text that is 0, false or empty is a section
/// that is left out; a list repeats its section, with {{.}} for the item.
using TemplateValue = std::variant<std::string, int, bool, std::vector<std::string>>;
using TemplateValues = std::map<std::string, TemplateValue>;

/// How {{name}} is written; {{{name}}} is as it stands.
enum class Quoting { shell, yaml };

/// The mustache templates of a folder: NAME.mustache, which take one another as {{>NAME}}.
class TemplateRenderer {
 public:
  /// @throws Error{unreadable_file} where the folder or a template cannot be read
  explicit TemplateRenderer(std::filesystem::path folder);

  /// @throws Error{unreadable_file} where there is no template `name`; Error{malformed_file} naming
  /// template, line and name where one uses a name that `values` lacks or a part that is not there
  std::string render(const std::string& name, const TemplateValues& values, Quoting quoting) const;

 private:
  void check_names(const std::string& name, const TemplateValues& values) const;

  std::filesystem::path folder_;
  std::map<std::string, std::string> templates_;
};

}  // namespace hpcboot::jobscripts
