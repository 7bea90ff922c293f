#include "ancestry.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace hpcboot::tool {
namespace {

constexpr std::size_t kDeepest = 64;  // far more than any launcher nests

struct Process {
  std::string name;
  pid_t parent = 0;
};

// From /proc/PID/stat: "PID (name) state parent …"; the name may hold spaces and parentheses.
Process look_at(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size()) return {};
  return {line.substr(open + 1, close - open - 1),
          static_cast<pid_t>(std::strtol(line.c_str() + close + 4, nullptr, 10))};
}

}  // namespace

std::vector<std::string> ancestry_of_this_process() {
  std::vector<std::string> names;
  for (pid_t pid = getppid(); pid > 0 && names.size() < kDeepest;) {
    const Process process = look_at(pid);
    if (process.name.empty()) break;
    names.push_back(process.name);
    pid = process.parent;
  }
  return names;
}

}  // namespace hpcboot::tool
