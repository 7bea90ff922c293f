#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/probe/probed_site.hpp"
#include "jobs/queue/queue.hpp"

namespace hpcboot::queue {

// The output of commands, by command line. Any other command cannot be started.
class Answers {
 public:
  Answers& say(const std::string& command, const std::string& output, int exit_code = 0) {
    CommandResult result;
    result.is_started = true;
    result.exit_code = exit_code;
    result.output = output;
    results_[command] = result;
    return *this;
  }

  RunCommand run() const {
    return [results = results_](const std::vector<std::string>& words) {
      std::string command;
      for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
      const auto found = results.find(command);
      return found == results.end() ? CommandResult() : found->second;
    };
  }

  jobscripts::Ask ask() const {
    return [run = run()](const std::vector<std::string>& words) -> std::optional<std::string> {
      const CommandResult result = run(words);
      return result.is_ok() ? std::optional(result.output) : std::nullopt;
    };
  }

 private:
  std::map<std::string, CommandResult> results_;
};

// Seconds since 1970; 0: no time.
inline std::time_t time_of(const std::optional<WallTime>& time) {
  return time ? std::chrono::system_clock::to_time_t(*time) : 0;
}

}  // namespace hpcboot::queue
