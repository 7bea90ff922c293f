#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "run_process.hpp"

// Real agents and ranks that are shell scripts. "Remote" agents are processes of this machine,
// started by env(1) or sh(1) in place of ssh.
namespace hpcboot::test {

inline const std::vector<std::string> kEnv = {"env"};

inline RunProcess::Options script(std::vector<int> ranks, const std::string& text) {
  RunProcess::Options options;
  options.ranks = std::move(ranks);
  options.shell = kEnv;
  options.script = text;
  return options;
}

inline RunOutcome run(const RunProcess::Options& options) {
  return RunProcess(options).finish();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

// The numbers after "pid " in the output.
inline std::vector<int> pids_of(const std::string& text) {
  std::vector<int> pids;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("pid ", 0) == 0) pids.push_back(std::stoi(line.substr(4)));
  }
  return pids;
}

}  // namespace hpcboot::test
