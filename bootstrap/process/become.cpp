#include "process/become.hpp"

#include <unistd.h>

#include <cerrno>

#include "process/signal_set.hpp"

namespace hpcboot {

int become(const std::map<std::string, std::string>& variables,
           const std::vector<std::string>& command, const char* program) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  restore_size_signal();
  execvpe(program, arguments.data(), environment.data());
  return errno;
}

}  // namespace hpcboot
