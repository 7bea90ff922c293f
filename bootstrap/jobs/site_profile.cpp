#include "site_profile.hpp"

#include <algorithm>
#include <optional>

#include "core/nearest_name.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "toml/bounded_toml.hpp"

namespace hpcboot::jobscripts {
namespace {

namespace fs = std::filesystem;
using Value = std::variant<std::string, int, bool, std::vector<std::string>>;

constexpr int kLargestNumber = 1'000'000;
constexpr std::size_t kShown = 80;  // characters of a key or value in a message

Value nothing_of(KeyType type) {
  if (type == KeyType::number) return 0;
  if (type == KeyType::truth) return false;
  if (is_list(type)) return std::vector<std::string>();
  return std::string();
}

std::optional<int> number_of(std::optional<std::int64_t> number) {
  if (!number || *number < 0 || *number > kLargestNumber) return std::nullopt;
  return static_cast<int>(*number);
}

// The name is used in scripts, in file names and in messages.
bool is_site_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kLongest && is_plain(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_plain(c) || c == '.' || c == '-'; });
}

// Reads the keys of one file, with their positions.
class Reader {
 public:
  explicit Reader(fs::path file) : file_(std::move(file)) {}

  std::map<std::string, Value> read(const toml::table& root) {
    read_table(root, "");
    for (const ProfileKey& key : profile_keys()) {
      if (values_.count(key.name) != 0) continue;
      if (key.required) {
        throw Error(ErrorCode::malformed_file,
                    file_.string() + ": the key " + key.name + " is missing",
                    key.name + ", " + description_of(key) + ": " + key.meaning,
                    "add it; see `hpcboot site show generic_slurm`");
      }
      values_[key.name] = nothing_of(key.type);
    }
    return std::move(values_);
  }

 private:
  void read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string full = prefix + std::string(name.str());
      if (node.is_table() && prefix.empty()) {
        read_table(*node.as_table(), full + ".");
        continue;
      }
      const ProfileKey* key = find_key(full);
      if (key == nullptr) {
        throw Error(ErrorCode::malformed_file, at(node) + "unknown key " + full.substr(0, kShown),
                    "one of " + listed(key_names()), remedy_for_name(full, key_names()));
      }
      values_[full] = value_of(*key, node);
    }
  }

  Value value_of(const ProfileKey& key, const toml::node& node) const {
    if (is_list(key.type)) {
      if (!node.is_array()) throw wrong(key, node, "has a value of the wrong type");
      std::vector<std::string> list;
      for (const toml::node& item : *node.as_array()) list.push_back(text_of(key, item));
      return list;
    }
    if (key.type == KeyType::number) {
      if (const auto number = number_of(node.value_exact<std::int64_t>())) return *number;
      throw wrong(key, node, "has a value of the wrong type");
    }
    if (key.type == KeyType::truth) {
      if (const auto truth = node.value_exact<bool>()) return *truth;
      throw wrong(key, node, "has a value of the wrong type");
    }
    return text_of(key, node);
  }

  std::string text_of(const ProfileKey& key, const toml::node& node) const {
    const auto text = node.value_exact<std::string>();
    if (!text) throw wrong(key, node, "has a value of the wrong type");
    if (const auto problem = problem_of(key, *text))
      throw wrong(key, node, "'" + text->substr(0, kShown) + "' " + *problem);
    return *text;
  }

  Error wrong(const ProfileKey& key, const toml::node& node, const std::string& what) const {
    return {ErrorCode::malformed_file, at(node) + key.name + ": " + what, description_of(key),
            "correct it: " + key.meaning};
  }

  std::string at(const toml::node& node) const {
    return file_.string() + ":" + std::to_string(node.source().begin.line) + ": ";
  }

  fs::path file_;
  std::map<std::string, Value> values_;
};

}  // namespace

SiteProfile SiteProfile::read(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) {
    throw Error(ErrorCode::unreadable_file, "the site file " + file.string() + " does not exist",
                "a profile, such as the output of `hpcboot site show generic_slurm`",
                "correct the path");
  }
  // A shell creates the file of `hpcboot site probe > FILE` even if the probe then fails.
  if (fs::file_size(file, failure) == 0) {
    throw Error(ErrorCode::malformed_file, "the site file " + file.string() + " is empty",
                "a profile, such as the output of `hpcboot site show generic_slurm`",
                "remove it, or run hpcboot site probe again");
  }
  SiteProfile profile = named_by(file);
  profile.values_ = Reader(file).read(read_toml_file(file));
  return profile;
}

SiteProfile SiteProfile::parse(const fs::path& file, const std::string& text) {
  SiteProfile profile = named_by(file);
  profile.values_ = Reader(file).read(parse_toml(text, file.string()));
  return profile;
}

SiteProfile SiteProfile::named_by(const fs::path& file) {
  SiteProfile profile;
  profile.name_ = file.stem().string();
  if (!is_site_name(profile.name_)) {
    throw Error(ErrorCode::malformed_value,
                "the name of the site file " + file.string() + " is not a valid site name",
                "at most 64 letters, digits, _ . and - before .toml: scripts contain the name",
                "rename the file");
  }
  return profile;
}

void SiteProfile::set(const std::string& name, const std::string& value) {
  const ProfileKey* key = find_key(name);
  if (key == nullptr) {
    throw Error(ErrorCode::malformed_value, "--set " + name.substr(0, kShown) + ": unknown key",
                "one of " + listed(key_names()), remedy_for_name(name, key_names()));
  }
  const auto wrong = [&](const std::string& problem) {
    return Error(ErrorCode::malformed_value,
                 "--set " + name + "=" + value + (problem.empty() ? "" : ": " + problem),
                 description_of(*key) + " (" + key->meaning + ")", "correct it");
  };
  if (key->type == KeyType::number) {
    const auto number = number_of(parse_whole_number(value));
    if (!number) throw wrong("");
    values_[name] = *number;
  } else if (key->type == KeyType::truth) {
    if (value != "true" && value != "false") throw wrong("");
    values_[name] = value == "true";
  } else {
    if (const auto problem = problem_of(*key, value)) throw wrong("it " + *problem);
    if (!is_list(key->type)) {
      values_[name] = value;
      return;
    }
    // "--nodelist=n1,n2,--exclusive" is two options.
    const bool are_options = name == "queue.options";
    std::vector<std::string> list;
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t comma = std::min(value.find(',', at), value.size());
      const std::string entry = value.substr(at, comma - at);
      at = comma + 1;
      if (entry.empty()) continue;
      if (are_options && !list.empty() && entry[0] != '-') {
        list.back() += "," + entry;
      } else {
        list.push_back(entry);
      }
    }
    values_[name] = list;
  }
}

const std::string& SiteProfile::text(const std::string& key) const {
  return std::get<std::string>(values_.at(key));
}

int SiteProfile::number(const std::string& key) const {
  return std::get<int>(values_.at(key));
}

bool SiteProfile::truth(const std::string& key) const {
  return std::get<bool>(values_.at(key));
}

const std::vector<std::string>& SiteProfile::list(const std::string& key) const {
  return std::get<std::vector<std::string>>(values_.at(key));
}

}  // namespace hpcboot::jobscripts
