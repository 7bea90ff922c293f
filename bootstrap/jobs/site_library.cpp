#include "site_library.hpp"

#include <set>

#include "core/user_folders.hpp"
#include "hpcboot/error.hpp"
#include "toml/nearest_name.hpp"

namespace hpcboot::jobscripts {

namespace fs = std::filesystem;

SiteLibrary::SiteLibrary(const fs::path& program, const Env& env)
    : folder_((program.parent_path() / HPCBOOT_SHARE_FROM_BIN / "hpcboot/jobscripts")
                  .lexically_normal()) {
  if (const std::string config = config_folder(env); !config.empty())
    own_ = fs::path(config) / "hpcboot/sites";
}

std::vector<fs::path> SiteLibrary::folders() const {
  if (own_.empty()) return {folder_ / "sites"};
  return {own_, folder_ / "sites"};
}

std::vector<std::string> SiteLibrary::names() const {
  std::set<std::string> names;
  for (const fs::path& folder : folders()) {
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
         entry.increment(none)) {
      if (entry->path().extension() == ".toml") names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path SiteLibrary::file_of(const std::string& name) const {
  for (const fs::path& folder : folders()) {
    const fs::path file = folder / (name + ".toml");
    std::error_code none;
    if (name.find('/') == std::string::npos && fs::is_regular_file(file, none)) return file;
  }
  return {};
}

bool SiteLibrary::has_as_shipped(const std::string& name) const {
  return file_of(name).parent_path() == folder_ / "sites";
}

SiteProfile SiteLibrary::read(const std::string& name) const {
  const fs::path file = file_of(name);
  if (!file.empty()) return SiteProfile::read(file);
  check_shipped();
  throw Error(ErrorCode::malformed_value, "there is no site " + name, "one of " + listed(names()),
              remedy_for_name(name, names()) + ", or give the file as --site-file");
}

void SiteLibrary::check_shipped() const {
  std::error_code none;
  if (fs::is_directory(folder_ / "sites", none)) return;
  throw Error(
      ErrorCode::unreadable_file,
      "hpcboot's own sites are not where they should be, in " + (folder_ / "sites").string(),
      "the folder share beside the folder of the program, as they were built or installed",
      "start hpcboot from its build or installation, or move both folders together");
}

}  // namespace hpcboot::jobscripts
