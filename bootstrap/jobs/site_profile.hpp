#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "profile_keys.hpp"

namespace hpcboot::jobscripts {

/// The profile of one site, read from its TOML file. The keys are those of profile_keys().
class SiteProfile {
 public:
  /// @throws Error{unreadable_file}; Error{malformed_value} for a file name that is not a valid
  /// site name; Error{malformed_file} naming file, line and key if a key is unknown, missing or of
  /// the wrong type
  static SiteProfile read(const std::filesystem::path& file);

  /// The same for the text of a file. @param file the file name, for messages
  static SiteProfile parse(const std::filesystem::path& file, const std::string& text);

  /// The file name without .toml.
  const std::string& name() const noexcept { return name_; }

  /// Sets one key from text, as --set does: numbers, true and false as written, lists separated by
  /// commas. @throws Error{malformed_value} naming the closest match if the key does not exist
  void set(const std::string& name, const std::string& value);

  /// The values; "", 0, false or an empty list if the file does not set them. The key must be one
  /// of profile_keys(), and of that type.
  const std::string& text(const std::string& key) const;
  int number(const std::string& key) const;
  bool truth(const std::string& key) const;
  const std::vector<std::string>& list(const std::string& key) const;

 private:
  static SiteProfile named_by(const std::filesystem::path& file);

  using Value = std::variant<std::string, int, bool, std::vector<std::string>>;

  std::string name_;
  std::map<std::string, Value> values_;  // a value for every key
};

}  // namespace hpcboot::jobscripts
