#pragma once

#include <optional>
#include <string>
#include <vector>

#include "description_text.hpp"
#include "hpcboot/error.hpp"
#include "toml/bounded_toml.hpp"

namespace hpcboot {

/// One table of a description file, read key by key. Every value that it returns has been
/// validated; an invalid one is an Error{malformed_file} that names file, line and key.
class TomlSection {
 public:
  /// @param name "" for the top-level keys
  /// @param keys all keys that are allowed here; any other is an error in the constructor
  TomlSection(const toml::table& table, std::string name, std::string file,
              const std::vector<std::string>& keys);

  bool has(const std::string& key) const { return table_.contains(key); }

  /// A single-line string; "" if the key is missing.
  std::string text(const std::string& key) const;
  /// The same, but the key must exist.
  std::string require_text(const std::string& key, const char* meaning) const;
  /// The index of one of these words; nullopt if the key is missing.
  std::optional<std::size_t> choice(const std::string& key,
                                    const std::vector<std::string>& words) const;
  /// The indices of an array of these words.
  std::vector<std::size_t> choices(const std::string& key,
                                   const std::vector<std::string>& words) const;
  /// A variable name; "" if the key is missing.
  std::string variable(const std::string& key) const;
  /// An array of variable names, or a single name. @param families whether names ending in * are
  /// allowed
  std::vector<std::string> variables(const std::string& key, bool families = false) const;
  /// {NAME = "value", …}
  DescriptionText::Values values(const std::string& key) const;

  /// An error about this key.
  Error wrong(const std::string& key, const std::string& what, const std::string& expected,
              const std::string& remedy) const;
  Error missing(const std::string& key, const char* meaning) const;

 private:
  const toml::node* find(const std::string& key) const;
  std::string full(const std::string& key) const;
  Error wrong_at(const toml::node* node, const std::string& what, const std::string& expected,
                 const std::string& remedy) const;
  std::string line_of_text(const std::string& key, const toml::node& node) const;
  std::string variable_of(const std::string& key, const toml::node& node, bool families) const;
  std::size_t choice_of(const std::string& key, const toml::node& node,
                        const std::vector<std::string>& words) const;

  const toml::table& table_;
  std::string name_;
  std::string file_;
};

}  // namespace hpcboot
