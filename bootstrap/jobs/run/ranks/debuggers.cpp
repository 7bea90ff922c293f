#include "debuggers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/contains.hpp"
#include "process_tree.hpp"

namespace hpcboot::run {
namespace {

// Names of C++ templates may be longer than is readable.
constexpr std::size_t kLongestLine = 1000;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool is_python(pid_t process) {
  std::error_code reason;
  const auto program =
      std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", reason);
  return starts_with(reason ? name_of_process(process) : program.filename().string(), "python");
}

// gdb and eu-stack start a frame with its number, py-spy with four spaces.
bool is_frame(std::string_view line) {
  return starts_with(line, "#") || starts_with(line, "    ");
}

bool is_head(std::string_view line) {
  return starts_with(line, "Thread ") || starts_with(line, "TID ");
}

bool only_waits(pid_t process) {
  constexpr std::array<std::string_view, 9> kNames = {"sh",  "bash", "dash",    "ksh",     "zsh",
                                                      "csh", "tcsh", "hpcboot", "torchrun"};
  return contains(kNames, name_of_process(process)) && !descendants_of(process).empty();
}

// A process that has ended has no command line.
bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  return file.peek() == std::ifstream::traits_type::eof();
}

}  // namespace

std::string name_of_process(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::vector<Debugger> debuggers_for(pid_t process) {
  const std::string id = std::to_string(process);
  std::vector<Debugger> all;
  if (is_python(process)) all.push_back({"py-spy", {"py-spy", "dump", "--pid", id}});
  // The initial thread comes first: it is the one that users know. Arguments are omitted, as they
  // may be secrets.
  all.push_back({"gdb",
                 {"gdb", "-nx", "-q", "-batch", "-p", id, "-ex", "set print frame-arguments none",
                  "-ex", "thread apply all -ascending bt 50"}});
  all.push_back({"eu-stack", {"eu-stack", "-n", "50", "-p", id}});
  return all;
}

std::map<std::string, std::string> environment_for_debuggers(
    std::map<std::string, std::string> env) {
  for (const char* name : {"DEBUGINFOD_URLS", "LD_PRELOAD", "PYTHONHOME", "PYTHONPATH"})
    env.erase(name);
  return env;
}

std::vector<std::string> stack_lines(std::string_view output, std::size_t most) {
  std::vector<std::string> lines;
  bool has_frames = false;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string_view line = output.substr(at, end - at);
    at = end + 1;
    if (!is_head(line) && !is_frame(line)) continue;
    has_frames = has_frames || is_frame(line);
    if (lines.size() == most) {
      lines.emplace_back("(truncated)");
      break;
    }
    lines.emplace_back(line.substr(0, kLongestLine));
    if (line.size() > kLongestLine) lines.back() += "…";
  }
  if (!has_frames) lines.clear();
  return lines;
}

std::vector<pid_t> processes_of_rank(pid_t program) {
  std::vector<pid_t> all = descendants_of(program);
  all.insert(all.begin(), program);
  const auto has_none = [](pid_t process) { return has_ended(process) || only_waits(process); };
  all.erase(std::remove_if(all.begin(), all.end(), has_none), all.end());
  return all;
}

}  // namespace hpcboot::run
