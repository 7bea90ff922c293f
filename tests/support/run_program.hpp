#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

namespace hpcboot::test {

struct ProgramOutput {
  int exit_code = -1;
  std::string text;  ///< standard output
};

/// Runs a program from PATH with exactly these arguments and this environment.
/// @return nullopt if the program does not exist, or was ended by a signal
inline std::optional<ProgramOutput> run_program(std::vector<std::string> command,
                                                std::vector<std::string> environment) {
  const auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> out;
    for (std::string& word : words) out.push_back(word.data());
    out.push_back(nullptr);
    return out;
  };
  int pipe_ends[2] = {-1, -1};
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                    pointers(command).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  ProgramOutput output;
  char buffer[4096];
  ssize_t count = 0;
  while (failed == 0 && (count = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0) {
    output.text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(pipe_ends[0]);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return std::nullopt;
  output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace hpcboot::test
