#include "program_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace hpcboot {

std::vector<std::string> paths_of_program(std::string_view path, const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> paths;
  while (true) {
    const std::size_t end = path.find(':');
    const std::string folder(path.substr(0, end));
    paths.push_back((folder.empty() ? "." : folder) + "/" + name);
    if (end == std::string_view::npos) return paths;
    path.remove_prefix(end + 1);
  }
}

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string find_program(std::string_view path, const std::string& name) {
  for (std::string& candidate : paths_of_program(path, name)) {
    if (is_program(candidate)) return std::move(candidate);
  }
  return "";
}

}  // namespace hpcboot
