#include "launch_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/contains.hpp"
#include "mpirun_options.hpp"

namespace hpcboot::lint {
namespace {

// srun's long options without a value, or with a value only after = (srun(1); the container options
// are from Pyxis).
constexpr std::array<std::string_view, 36> kAlone = {"label",
                                                     "unbuffered",
                                                     "kill-on-bad-exit",
                                                     "no-kill",
                                                     "overcommit",
                                                     "exclusive",
                                                     "pty",
                                                     "preserve-env",
                                                     "quiet",
                                                     "verbose",
                                                     "exact",
                                                     "overlap",
                                                     "oversubscribe",
                                                     "share",
                                                     "disable-status",
                                                     "hold",
                                                     "immediate",
                                                     "multi-prog",
                                                     "contiguous",
                                                     "use-min-nodes",
                                                     "whole",
                                                     "spread-job",
                                                     "reboot",
                                                     "test-only",
                                                     "no-allocate",
                                                     "propagate",
                                                     "resv-ports",
                                                     "x11",
                                                     "nice",
                                                     "send-libs",
                                                     "container-mount-home",
                                                     "no-container-mount-home",
                                                     "container-remap-root",
                                                     "container-writable",
                                                     "container-readonly",
                                                     "no-container-entrypoint"};

struct ShortName {
  char letter;
  const char* name;
};
constexpr std::array<ShortName, 6> kShort = {{{'n', "ntasks"},
                                              {'N', "nodes"},
                                              {'K', "kill-on-bad-exit"},
                                              {'w', "nodelist"},
                                              {'r', "relative"},
                                              {'G', "gpus"}}};
constexpr std::string_view kShortAlone = "EHIKklOQsuVvXZh";

std::string long_name_of(char letter) {
  for (const ShortName& one : kShort) {
    if (one.letter == letter) return one.name;
  }
  return {letter};
}

// -n 4, -n4, -lK, -K0, -uln 4. Returns the number of words used.
std::size_t read_short(const std::vector<Word>& words, std::size_t i,
                       std::map<std::string, std::string>& options) {
  const std::string& text = words[i].text;
  for (std::size_t k = 1; k < text.size(); ++k) {
    const std::string name = long_name_of(text[k]);
    const std::string_view rest = std::string_view(text).substr(k + 1);
    if (kShortAlone.find(text[k]) == std::string_view::npos) {
      const bool has_next = rest.empty() && i + 1 < words.size();
      options[name] = has_next ? std::string_view(words[i + 1].text) : rest;
      return has_next ? 2 : 1;
    }
    const bool number = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
    options[name] = number ? rest : std::string_view();
    if (number) return 1;
  }
  return 1;
}

void read_srun_options(LaunchCommand& launch) {
  const auto& words = launch.command->words;
  std::size_t i = launch.first + 1;
  while (i < words.size()) {
    const std::string& text = words[i].text;
    if (text.size() > 1 && text[0] == '$') {
      launch.has_all_options = false;
      i = words.size();
      break;
    }
    if (text.size() < 2 || text[0] != '-') break;
    if (text == "--") {
      ++i;
      break;
    }
    if (text[1] != '-') {
      i += read_short(words, i, launch.options);
      continue;
    }
    const std::size_t equals = std::min(text.find('='), text.size());
    std::string name = text.substr(2, equals - 2);
    if (name == "tasks-per-node") name = "ntasks-per-node";
    ++i;
    if (equals < text.size()) {
      launch.options[name] = text.substr(equals + 1);
    } else if (contains(kAlone, name) || i >= words.size()) {
      launch.options[name] = "";
    } else {
      launch.options[name] = words[i++].text;
    }
  }
  launch.program = i;
}

// The index after commands that run another one: exec, time, env A=b, timeout -k 5 60, nice -n 5.
std::size_t behind_wrappers(const std::vector<Word>& words) {
  static constexpr std::array<std::string_view, 8> kPlain = {
      "exec", "command", "nohup", "time", "env", "nice", "timeout", "stdbuf"};
  std::size_t i = 0;
  while (i < words.size()) {
    const std::string name = base_name(words[i].text);
    // The result of a substitution is unknown: $(hpcboot sanitize) mpirun.
    if (words[i].text.rfind("$(", 0) == 0) {
      ++i;
      continue;
    }
    if (!contains(kPlain, name)) break;
    ++i;
    while (i < words.size() &&
           (words[i].text.rfind('-', 0) == 0 || words[i].text.find('=') != std::string::npos)) {
      const bool takes_value = words[i].text == "-n" || words[i].text == "-k" ||
                               words[i].text == "-s" || words[i].text == "-u";
      i += takes_value ? 2 : 1;
    }
    if (name == "timeout") ++i;
  }
  return i;
}

// mpirun --version starts nothing.
bool only_tells(const Command& command, std::size_t first) {
  static constexpr std::array<std::string_view, 5> kTelling = {"--version", "-version", "-V",
                                                               "--help", "-h"};
  return first + 1 < command.words.size() && contains(kTelling, command.words[first + 1].text);
}

}  // namespace

std::string base_name(const std::string& word) {
  return word.substr(word.find_last_of('/') + 1);
}

bool is_mpirun(const std::string& name) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", "mpirun_rsh"};
  return contains(kNames, name);
}

bool LaunchCommand::has_several_programs() const {
  const auto& words = command->words;
  return std::any_of(words.begin(), words.end(), [](const Word& word) { return word.text == ":"; });
}

std::string LaunchCommand::program_name() const {
  return program < command->words.size() ? base_name(command->words[program].text) : "";
}

std::vector<LaunchCommand> launch_commands_of(const Shell& shell) {
  std::vector<LaunchCommand> launches;
  for (const Command& command : shell.commands) {
    LaunchCommand launch;
    launch.command = &command;
    launch.first = behind_wrappers(command.words);
    launch.program = command.words.size();
    if (launch.first >= command.words.size()) continue;
    const std::string name = base_name(command.words[launch.first].text);
    if (name == "srun") {
      launch.launcher = Launcher::srun;
      read_srun_options(launch);
    } else if (is_mpirun(name) && !only_tells(command, launch.first)) {
      launch.launcher = Launcher::mpirun;
      read_mpirun_options(launch);
    } else {
      continue;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

bool is_small_program(const std::string& name) {
  static constexpr std::array<std::string_view, 33> kNames = {
      "cat",      "chmod", "cp",    "date",     "df",    "echo",  "env",   "find",       "free",
      "hostname", "id",    "ls",    "lscpu",    "mkdir", "mv",    "nproc", "nvidia-smi", "printenv",
      "ps",       "pwd",   "rm",    "rocm-smi", "rsync", "sleep", "tar",   "touch",      "true",
      "ulimit",   "uname", "unzip", "uptime",   "which", ""};
  return contains(kNames, name);
}

std::optional<int> tasks_of(const LaunchCommand& srun, const JobRequest& job) {
  const auto own = [&](const char* name) -> std::optional<std::string> {
    const auto found = srun.options.find(name);
    return found == srun.options.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto tasks = own("ntasks")) return number_of(*tasks);
  const auto nodes = own("nodes");
  const auto per_node = own("ntasks-per-node");
  if (!nodes && !per_node) return job.tasks;
  const auto count = nodes ? number_of(*nodes) : job.nodes;
  const auto each = per_node ? number_of(*per_node) : job.tasks_per_node;
  if (!count || !each) return std::nullopt;
  return number_of(std::to_string(static_cast<long long>(*count) * *each));
}

std::optional<int> tasks_per_node_of(const LaunchCommand& srun, const JobRequest& job) {
  const auto per_node = srun.options.find("ntasks-per-node");
  if (per_node != srun.options.end()) return number_of(per_node->second);
  const bool changed = srun.options.count("ntasks") != 0 || srun.options.count("nodes") != 0;
  if (!changed) return job.tasks_per_node;
  const auto tasks = srun.options.find("ntasks");
  const auto nodes = srun.options.find("nodes");
  const auto all = tasks != srun.options.end() ? number_of(tasks->second) : std::nullopt;
  const auto count = nodes != srun.options.end() ? number_of(nodes->second) : job.nodes;
  if (!all || !count || *count == 0 || *all % *count != 0) return std::nullopt;
  return *all / *count;
}

}  // namespace hpcboot::lint
