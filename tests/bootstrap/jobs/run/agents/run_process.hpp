#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jobs/run/agents/agents.hpp"
#include "jobs/run/ranks/rank_child.hpp"

namespace hpcboot::test {

// How a run of agents ended, and what it printed.
struct RunOutcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `hpcboot run` with agents, in its own process. The test program is its own agent: its main() must
// handle the word run-agent.
class RunProcess {
 public:
  static constexpr std::chrono::seconds kDeadline{60};

  static constexpr const char* kSecret = "5ec4e7";

  struct Options {
    std::vector<int> ranks = {1};         // on each of the hosts n0, n1, …
    std::vector<std::string> shell = {};  // to hosts from n1 on: empty for agents that are children
    bool is_first_remote = false;
    std::vector<std::string> command = {};  // or
    std::string script = {};                // run by a shell
    std::map<std::string, std::string> set = {{"OF_THE_PLAN", "yes"}};
    run::RunRequest request = {};
    std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::chrono::milliseconds grace{30000};
    std::chrono::milliseconds silence{30000};
    std::optional<int> input = {};
    std::optional<int> output = {};
  };

  explicit RunProcess(Options options) : child_(spec_of(std::move(options))) {}

  const run::RankChild& child() const { return child_; }
  void signal(int number) const { kill(child_.pid(), number); }

  // Reads until standard output contains `text`.
  void await(const std::string& text) {
    while (out_.find(text) == std::string::npos) await_more();
  }
  void await_error(const std::string& text) {
    while (err_.find(text) == std::string::npos) await_more();
  }
  void await_more() {
    if (!read_some()) throw std::runtime_error("ended, with '" + out_ + "', " + err_);
  }
  const std::string& out() const { return out_; }

  RunOutcome finish() {
    while (read_some()) {
    }
    while (!child_.ended()) {
      if (std::chrono::steady_clock::now() > end_) throw std::runtime_error("the run does not end");
      usleep(10000);
    }
    return {child_.ended()->exit_code, out_, err_};
  }

  void close_out() { child_.close_out(); }

 private:
  static run::ChildSpec spec_of(Options options) {
    if (options.command.empty()) options.command = {"sh", "-c", options.script};
    options.request.command = options.command;
    run::ChildSpec spec;
    spec.words = {"run"};
    spec.input = options.input;
    spec.output = options.output;
    spec.body = [options] {
      run::Plan plan;
      plan.launcher = options.ranks.size() == 1 ? run::Launcher::local : run::Launcher::ssh;
      for (std::size_t i = 0; i < options.ranks.size(); ++i) {
        const std::string host = "n" + std::to_string(i);
        plan.layout.hosts.push_back({host, options.ranks[i]});
        const bool is_remote = i > 0 || options.is_first_remote;
        plan.agents.push_back({host, is_remote ? options.shell : std::vector<std::string>()});
      }
      plan.set = options.set;
      plan.words = options.request.command;
      return run::run_agents({plan,
                              options.request,
                              options.self,
                              {{"HPCBOOT_RUN_ID", "r1"}, {"HPCBOOT_RUN_SECRET", kSecret}},
                              options.grace,
                              options.silence})
          .exit_code;
    };
    return spec;
  }

  // Reads some of either stream. @return false at the end of both
  bool read_some() {
    if (child_.out_fd() < 0 && child_.err_fd() < 0) return false;
    std::array<pollfd, 2> entries = {{{child_.out_fd(), POLLIN, 0}, {child_.err_fd(), POLLIN, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    if (left.count() <= 0 || poll(entries.data(), 2, static_cast<int>(left.count())) < 1)
      throw std::runtime_error("no end; so far '" + out_ + "', " + err_);
    for (const bool is_error : {false, true}) {
      if (entries[is_error ? 1 : 0].revents == 0) continue;
      std::array<char, 65536> buffer;
      const int fd = is_error ? child_.err_fd() : child_.out_fd();
      const ssize_t size = read(fd, buffer.data(), buffer.size());
      if (size > 0) (is_error ? err_ : out_).append(buffer.data(), static_cast<std::size_t>(size));
      if (size == 0) is_error ? child_.close_err() : child_.close_out();
    }
    return true;
  }

  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kDeadline;
  run::RankChild child_;
  std::string out_;
  std::string err_;
};

// The kernel's state letter: S, T, Z, …; Z also if there is no such process.
inline char state_of(int process_id) {
  std::ifstream file("/proc/" + std::to_string(process_id) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(") ");
  return end == std::string::npos ? 'Z' : line[end + 2];
}

// Waits until the process has this state.
inline bool has_state(int process_id, char state) {
  for (int i = 0; i < 2000; ++i) {
    if (state_of(process_id) == state) return true;
    usleep(10000);
  }
  return false;
}

// Waits until there is no process with this id, or only a zombie.
inline bool has_gone(int process_id) {
  return has_state(process_id, 'Z');
}

}  // namespace hpcboot::test
