#include "toml_section.hpp"

#include <algorithm>

#include "core/contains.hpp"
#include "core/nearest_name.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kLongestText = 300;
constexpr std::size_t kLongestName = 128;
// `sanitize` unsets families: "A*" would remove half of an environment.
constexpr std::size_t kShortestFamily = 3;

bool is_variable(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_family(std::string_view name) {
  return name.size() > kShortestFamily && name.back() == '*' &&
         is_variable(name.substr(0, name.size() - 1));
}

}  // namespace

TomlSection::TomlSection(const toml::table& table, std::string name, std::string file,
                         const std::vector<std::string>& keys)
    : table_(table), name_(std::move(name)), file_(std::move(file)) {
  for (const auto& [key, node] : table) {
    const std::string word(key.str());
    if (contains(keys, word)) continue;
    throw wrong_at(&node, "there is no key " + full(word.substr(0, 80)), "one of " + listed(keys),
                   remedy_for_name(word, keys));
  }
}

const toml::node* TomlSection::find(const std::string& key) const {
  return table_.get(key);
}

std::string TomlSection::full(const std::string& key) const {
  return name_.empty() ? key : name_ + "." + key;
}

Error TomlSection::wrong_at(const toml::node* node, const std::string& what,
                            const std::string& expected, const std::string& remedy) const {
  const std::string line = node == nullptr ? "" : std::to_string(node->source().begin.line) + ":";
  return {ErrorCode::malformed_file, file_ + ":" + line + " " + what, expected, remedy};
}

Error TomlSection::wrong(const std::string& key, const std::string& what,
                         const std::string& expected, const std::string& remedy) const {
  const toml::node* node = find(key);
  return wrong_at(node == nullptr ? &table_ : node, full(key) + ": " + what, expected, remedy);
}

Error TomlSection::missing(const std::string& key, const char* meaning) const {
  return wrong_at(nullptr, "the key " + full(key) + " is missing", full(key) + ": " + meaning,
                  "add it");
}

std::string TomlSection::line_of_text(const std::string& key, const toml::node& node) const {
  const auto text = node.value_exact<std::string>();
  const bool is_line = text && !text->empty() && text->size() <= kLongestText &&
                       std::none_of(text->begin(), text->end(), [](char c) {
                         return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
                       });
  if (is_line) return *text;
  throw wrong_at(&node, full(key) + ": the value is not a single-line string",
                 "a quoted string of 1 to " + std::to_string(kLongestText) + " bytes",
                 "correct it");
}

std::string TomlSection::text(const std::string& key) const {
  const toml::node* node = find(key);
  return node == nullptr ? std::string() : line_of_text(key, *node);
}

std::string TomlSection::require_text(const std::string& key, const char* meaning) const {
  if (find(key) == nullptr) throw missing(key, meaning);
  return text(key);
}

std::size_t TomlSection::choice_of(const std::string& key, const toml::node& node,
                                   const std::vector<std::string>& words) const {
  const std::string word = line_of_text(key, node);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  throw wrong_at(&node, full(key) + ": unknown value '" + word.substr(0, 80) + "'",
                 "one of " + listed(words), remedy_for_name(word, words));
}

std::optional<std::size_t> TomlSection::choice(const std::string& key,
                                               const std::vector<std::string>& words) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  return choice_of(key, *node, words);
}

std::vector<std::size_t> TomlSection::choices(const std::string& key,
                                              const std::vector<std::string>& words) const {
  const toml::node* node = find(key);
  std::vector<std::size_t> indices;
  if (node == nullptr) return indices;
  if (!node->is_array())
    throw wrong_at(node, full(key) + ": the value is not an array", "an array of strings",
                   "correct it");
  for (const toml::node& item : *node->as_array()) indices.push_back(choice_of(key, item, words));
  return indices;
}

std::string TomlSection::variable_of(const std::string& key, const toml::node& node,
                                     bool families) const {
  const auto name = node.value_exact<std::string>();
  if (name && (is_variable(*name) || (families && is_family(*name)))) return *name;
  throw wrong_at(&node, full(key) + ": the value is not a variable name",
                 families ? "a name such as SLURM_PROCID, or a prefix such as PMI_*"
                          : "a name such as SLURM_PROCID",
                 "correct it");
}

std::string TomlSection::variable(const std::string& key) const {
  const toml::node* node = find(key);
  return node == nullptr ? std::string() : variable_of(key, *node, false);
}

std::vector<std::string> TomlSection::variables(const std::string& key, bool families) const {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_array()) return {variable_of(key, *node, families)};
  std::vector<std::string> names;
  for (const toml::node& item : *node->as_array())
    names.push_back(variable_of(key, item, families));
  if (names.empty())
    throw wrong_at(node, full(key) + ": the array is empty", "at least one name", "remove the key");
  return names;
}

DescriptionText::Values TomlSection::values(const std::string& key) const {
  const toml::node* node = find(key);
  DescriptionText::Values values;
  if (node == nullptr) return values;
  if (!node->is_table()) {
    throw wrong_at(node, full(key) + ": the value is not a table",
                   "a table such as { NAME = \"1\" }", "correct it");
  }
  for (const auto& [name, value] : *node->as_table()) {
    const std::string word(name.str());
    if (!is_variable(word)) {
      throw wrong_at(&value, full(key) + ": '" + word.substr(0, 80) + "' is not a variable name",
                     "a name such as SLURM_PROCID", "correct it");
    }
    values.emplace_back(word, line_of_text(key + "." + word, value));
  }
  return values;
}

}  // namespace hpcboot
