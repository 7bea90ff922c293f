#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcboot::jobscripts {

/// What a value of a site's profile may be.
enum class KeyType {
  text,      ///< one line
  word,      ///< letters, digits and _.,:/@%+=- only: it stands in directives without quotes
  path,      ///< a path that may name environment variables as ${NAME} or ${NAME:-VALUE}
  label,     ///< a name of Kubernetes without dots: a DNS label (RFC 1123), at most 63 characters
  dns_name,  ///< a name of Kubernetes: such labels between dots, at most 253 characters
  resource,  ///< an extended resource of Kubernetes: DOMAIN/NAME
  choice,    ///< one of the key's choices
  number,    ///< a whole number, 0 or more
  truth,     ///< true or false
  words,     ///< a list of words
  lines,     ///< a list of texts
};

/// One key of a profile: [table] name, or name alone at the top of the file.
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

/// Every key that a profile may have, in the order of jobscripts/README.md.
const std::vector<ProfileKey>& profile_keys();

/// The key called `name`; null where there is none.
const ProfileKey* find_key(const std::string& name);

/// All names, for messages.
std::vector<std::string> key_names();

/// What a value of this type looks like: "a whole number, such as 4".
std::string description_of(const ProfileKey& key);

/// What is wrong with `value` for a key of one of the textual types; none where it fits.
std::optional<std::string> problem_of(const ProfileKey& key, const std::string& value);

}  // namespace hpcboot::jobscripts
