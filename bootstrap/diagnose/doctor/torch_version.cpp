#include "torch_version.hpp"

#include "core/schedulers/read_file.hpp"

namespace hpcboot::doctor {
namespace {

constexpr std::size_t kLongestVersion = 64;

}  // namespace

std::string torch_folder_in(std::string_view maps) {
  constexpr std::string_view kFolder = "/torch";
  const std::size_t found = maps.find("/torch/_C.");
  if (found == std::string_view::npos) return "";
  // "7fd3a8a00000-7fd3a920a000 r--p 00000000 fe:00 14887216   /usr/lib/…": the path begins at the
  // first slash.
  const std::size_t line = maps.rfind('\n', found) + 1;
  const std::size_t start = maps.find('/', line);
  return std::string(maps.substr(start, found - start + kFolder.size()));
}

std::string torch_version_in(std::string_view version_py) {
  constexpr std::string_view kName = "__version__ = '";
  const std::size_t found = version_py.find(kName);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = version_py.substr(found + kName.size());
  const std::string_view version = rest.substr(0, rest.find('\''));
  constexpr std::string_view kOfVersions =
      "0123456789.+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
  const bool is_version = version.size() < rest.size() && version.size() <= kLongestVersion &&
                          version.find_first_not_of(kOfVersions) == std::string_view::npos;
  return is_version ? std::string(version) : "";
}

std::string torch_version_above(const std::vector<Ancestor>& ancestors) {
  for (const Ancestor& ancestor : ancestors) {
    const auto maps = read_file("/proc/" + std::to_string(ancestor.process_id) + "/maps");
    const std::string folder = maps ? torch_folder_in(*maps) : "";
    if (!folder.empty()) return torch_version_in(read_file(folder + "/version.py").value_or(""));
  }
  return "";
}

}  // namespace hpcboot::doctor
