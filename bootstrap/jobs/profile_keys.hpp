#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcboot::jobscripts {

/// The type of a value in a site profile.
enum class KeyType {
  text,      ///< one line
  word,      ///< letters, digits and _.,:/@%+=- only: used in directives without quotes
  path,      ///< a path that may contain environment variables as ${NAME} or ${NAME:-VALUE}
  label,     ///< a Kubernetes name without dots: a DNS label (RFC 1123), at most 63 characters
  dns_name,  ///< a Kubernetes name: DNS labels separated by dots, at most 253 characters
  resource,  ///< a Kubernetes extended resource: DOMAIN/NAME
  choice,    ///< one of the choices of the key
  number,    ///< a whole number, 0 or more
  truth,     ///< true or false
  words,     ///< a list of words
  lines,     ///< a list of strings
};

/// One key of a profile: [table] name, or just name at the top of the file.
struct ProfileKey {
  std::string name;  ///< with its table: "node.gpus"
  KeyType type = KeyType::text;
  std::string meaning;
  bool required = false;
  std::vector<std::string> choices{};
};

/// Whether values of the type are lists.
constexpr bool is_list(KeyType type) noexcept {
  return type == KeyType::words || type == KeyType::lines;
}

/// Every key of a profile, in the order of jobscripts/README.md.
const std::vector<ProfileKey>& profile_keys();

/// The key called `name`; null if there is none.
const ProfileKey* find_key(const std::string& name);

/// All names, for messages.
std::vector<std::string> key_names();

/// The expected form of a value: "a whole number, such as 4".
std::string description_of(const ProfileKey& key);

/// What is wrong with `value` for a key of a textual type; nullopt if it is valid.
std::optional<std::string> problem_of(const ProfileKey& key, const std::string& value);

}  // namespace hpcboot::jobscripts
