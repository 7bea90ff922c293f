#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot::test {

// A process that runs this function.
inline pid_t start_process(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    body();
  } catch (const std::exception& error) {
    _exit(1);
  }
  _exit(0);
}

// Waits for its end: did the function return?
inline bool has_succeeded(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

// Ranks as processes; each reports through its exit code.
class FileRanks {
 public:
  FileRanks(std::string folder, int world_size) : folder_(std::move(folder)), size_(world_size) {}

  Env env_of(int rank) const {
    return Env(std::map<std::string, std::string>{{"HPCBOOT_EXCHANGE_DIR", folder_},
                                                  {"HPCBOOT_RANK", std::to_string(rank)},
                                                  {"HPCBOOT_LOCAL_RANK", std::to_string(rank)},
                                                  {"HPCBOOT_WORLD_SIZE", std::to_string(size_)}});
  }

  // Runs these ranks to their end. @return how many failed
  int run(const std::vector<int>& ranks,
          const std::function<void(int rank, const Env&)>& body) const {
    std::vector<pid_t> children;
    for (const int rank : ranks)
      children.push_back(start_process([&] { body(rank, env_of(rank)); }));
    int failures = 0;
    for (const pid_t child : children) failures += has_succeeded(child) ? 0 : 1;
    return failures;
  }

 private:
  std::string folder_;
  int size_;
};

}  // namespace hpcboot::test
