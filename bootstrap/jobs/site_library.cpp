#include "site_library.hpp"

#include <set>
#include <utility>

#include "core/nearest_name.hpp"
#include "core/schedulers/read_file.hpp"
#include "core/user_folders.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::jobscripts {

namespace fs = std::filesystem;

SiteLibrary::SiteLibrary(const Env& env, ShippedFiles shipped) : shipped_(std::move(shipped)) {
  if (const std::string config = config_folder(env); !config.empty())
    own_ = fs::path(config) / "hpcboot/sites";
}

std::vector<std::string> SiteLibrary::names() const {
  std::set<std::string> names;
  for (const auto& [name, text] : shipped_) names.insert(name);
  std::error_code none;
  for (fs::directory_iterator entry(own_, none), end; !none && entry != end;
       entry.increment(none)) {
    if (entry->path().extension() == ".toml") names.insert(entry->path().stem().string());
  }
  return {names.begin(), names.end()};
}

fs::path SiteLibrary::file_of(const std::string& name) const {
  const fs::path file = own_ / (name + ".toml");
  std::error_code none;
  const bool is_there =
      !own_.empty() && name.find('/') == std::string::npos && fs::is_regular_file(file, none);
  return is_there ? file : fs::path();
}

bool SiteLibrary::has_as_shipped(const std::string& name) const {
  return file_of(name).empty() && shipped_.count(name) != 0;
}

void SiteLibrary::require(const std::string& name) const {
  if (!file_of(name).empty() || shipped_.count(name) != 0) return;
  throw Error(
      ErrorCode::malformed_value, "there is no site " + name, "one of " + listed(names()),
      remedy_for_name(name, names()) + ", or create a profile of this name (hpcboot site probe)");
}

SiteProfile SiteLibrary::read(const std::string& name) const {
  require(name);
  const fs::path file = file_of(name);
  if (!file.empty()) return SiteProfile::read(file);
  return SiteProfile::parse(name + ".toml", shipped_.at(name));
}

std::string SiteLibrary::text_of(const std::string& name) const {
  require(name);
  const fs::path file = file_of(name);
  if (file.empty()) return shipped_.at(name);
  const FileText read = read_whole(file.string(), FileKind::regular);
  if (read.text) return *read.text;
  throw Error(ErrorCode::unreadable_file,
              "the site file " + file.string() + " cannot be read: " + read.reason,
              "a readable file", "check its permissions");
}

}  // namespace hpcboot::jobscripts
