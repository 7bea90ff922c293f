#include "left_behind.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

#include "core/contains.hpp"
#include "process_tree.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kPatience{1};  // less than `hpcboot run` allows its agents

// The kernel's name of it, truncated to 15 bytes.
std::string name_of_program(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

bool has_name_of(pid_t process, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 15;
  const std::string name = name_of_program(process);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& other) { return other.substr(0, kLongest) == name; });
}

}  // namespace

LeftBehind::LeftBehind() : before_(descendants_of(getpid())) {
  prctl(PR_GET_CHILD_SUBREAPER, &was_reaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

LeftBehind::~LeftBehind() {
  prctl(PR_SET_CHILD_SUBREAPER, was_reaper_);
}

void LeftBehind::reap(const std::vector<pid_t>& known) const {
  while (true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const auto is_in = [&](const std::vector<pid_t>& pids) { return contains(pids, info.si_pid); };
    // Children behind it can only be reaped after it.
    if (is_in(known) || is_in(before_)) return;
    waitpid(info.si_pid, nullptr, 0);
  }
}

void LeftBehind::kill_all(const std::vector<std::string>& spared) const {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const std::vector<pid_t> below = descendants_of(getpid());
    std::set<pid_t> kept;
    for (const pid_t process : below) {
      const bool was_there = contains(before_, process);
      if (!was_there && !has_name_of(process, spared)) continue;
      kept.insert(process);
      for (const pid_t child : descendants_of(process)) kept.insert(child);
    }
    bool is_any_left = false;
    for (const pid_t process : below) {
      if (kept.count(process) != 0) continue;
      is_any_left = true;
      kill(process, SIGKILL);
      waitpid(process, nullptr, WNOHANG);  // works for children, including adopted ones
    }
    if (!is_any_left || std::chrono::steady_clock::now() >= until) return;
    usleep(2000);
  }
}

}  // namespace hpcboot::run
