#include "hpcboot/launcher_files.hpp"

#include <algorithm>
#include <string_view>

#include "core/user_folders.hpp"
#include "hpcboot/error.hpp"
#include "owned_description.hpp"
#include "read_description.hpp"
#include "trusted_file.hpp"

namespace hpcboot {
namespace {

std::vector<std::string> folders_of_path(const Env& env) {
  std::vector<std::string> folders;
  for (std::string_view rest = env.text("HPCBOOT_LAUNCHER_PATH").value_or(""); !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string_view folder = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (folder.empty()) continue;
    if (folder.front() != '/') {
      throw Error(ErrorCode::malformed_value,
                  "HPCBOOT_LAUNCHER_PATH contains the relative path '" +
                      std::string(folder.substr(0, 80)) + "'",
                  "absolute paths separated by colons", "use an absolute path");
    }
    folders.emplace_back(folder);
  }
  return folders;
}

std::string own_folder(const Env& env) {
  const std::string folder = config_folder(env);
  return folder.empty() ? "" : folder + "/hpcboot/launchers";
}

DescribedLauncher parse(const std::string& text, const std::string& path) {
  return describe(read_description(text, path), path);
}

void read_folder(const std::string& path, bool is_needed, std::vector<DescribedLauncher>& found) {
  const auto folder = open_trusted_folder(path);
  if (!folder) {
    if (!is_needed) return;
    throw Error(ErrorCode::unreadable_file,
                "HPCBOOT_LAUNCHER_PATH names " + path + ", which is not a readable folder",
                "folders of launcher descriptions", "correct HPCBOOT_LAUNCHER_PATH");
  }
  for (const std::string& name : toml_files_in(*folder, path)) {
    found.push_back(
        parse(read_trusted_file(*folder, path, name, kLongestLauncherFile), path + "/" + name));
  }
}

}  // namespace

DescribedLauncher read_launcher_file(const std::string& path) {
  return parse(read_named_file(path, kLongestLauncherFile), path);
}

std::vector<std::string> launcher_folders(const Env& env) {
  std::vector<std::string> folders = folders_of_path(env);
  if (std::string own = own_folder(env); !own.empty()) folders.push_back(std::move(own));
  return folders;
}

std::vector<DescribedLauncher> read_user_launchers(const Env& env) {
  std::vector<DescribedLauncher> found;
  for (const std::string& folder : folders_of_path(env)) read_folder(folder, true, found);
  if (const std::string own = own_folder(env); !own.empty()) read_folder(own, false, found);
  return found;
}

}  // namespace hpcboot
