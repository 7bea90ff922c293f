#include "trainer_runs.hpp"

#include <filesystem>

namespace hpcboot::tool {

std::string runs_dir_of(const std::vector<std::string>& command) {
  if (std::filesystem::path(command.front()).filename() != "trainer") return "";
  const std::string option = "--runs-dir";
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i].rfind(option + "=", 0) == 0) return command[i].substr(option.size() + 1);
    if (command[i] == option && i + 1 < command.size()) return command[i + 1];
  }
  return "runs";
}

}  // namespace hpcboot::tool
