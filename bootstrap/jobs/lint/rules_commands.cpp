#include <algorithm>
#include <array>
#include <cctype>

#include "core/contains.hpp"
#include "rules.hpp"

// How the script's commands use the master address and folders.
namespace hpcboot::lint {
namespace {

// An option or variable that names a port or an address, and its value.
struct Setting {
  std::string name;
  std::string value;
  std::size_t at;
  bool in_condition;
};

// Is word i the argument of bash -c, sh -lc?
bool is_shell_text(const std::vector<Word>& words, std::size_t i) {
  static constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "ksh", "zsh"};
  const std::string& option = words[i - 1].text;
  return option.size() > 1 && option[0] == '-' && option[1] != '-' && option.back() == 'c' &&
         contains(kShells, base_name(words[i - 2].text));
}

// NAME=VALUE, export NAME=VALUE, --name=VALUE, --name VALUE in all commands, including up to
// `deepest` nested shells.
std::vector<Setting> settings_of(const Shell& shell, int deepest = 2) {
  std::vector<Setting> settings;
  const auto take = [&](const Word& word, bool in_condition) {
    const std::size_t equals = word.text.find('=');
    if (equals != std::string::npos) {
      settings.push_back(
          {word.text.substr(0, equals), word.text.substr(equals + 1), word.at, in_condition});
    }
    return equals != std::string::npos;
  };
  for (const Command& command : shell.commands) {
    for (const Word& word : command.assignments) take(word, command.in_condition);
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      const Word& word = command.words[i];
      if (!take(word, command.in_condition) && word.text.rfind("--", 0) == 0 &&
          i + 1 < command.words.size())
        settings.push_back({word.text, command.words[i + 1].text, word.at, command.in_condition});
    }
  }
  // Text passed to a shell: bash -c 'MASTER_PORT=29500 ./a'.
  for (const Command& command : shell.commands) {
    for (std::size_t i = 2; deepest > 0 && i < command.words.size(); ++i) {
      if (!is_shell_text(command.words, i)) continue;
      const Word& text = command.words[i];
      for (Setting& setting : settings_of(read_shell(text.text), deepest - 1)) {
        setting.at += text.at + 1;  // after the quote
        settings.push_back(std::move(setting));
      }
    }
  }
  for (Setting& setting : settings) {
    if (setting.name.rfind("--", 0) != 0) continue;
    std::replace(setting.name.begin(), setting.name.end(), '-', '_');
  }
  return settings;
}

bool is_fixed_port(std::string value) {
  // ${MASTER_PORT:-29500} is just as fixed if MASTER_PORT is not set.
  const std::size_t fallback = value.find(":-");
  if (value.rfind("${", 0) == 0 && fallback != std::string::npos && value.back() == '}')
    value = value.substr(fallback + 2, value.size() - fallback - 3);
  const auto port = number_of(value);
  return port && *port > 0;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

bool is_endpoint(const std::string& name) {
  return name == "__rdzv_endpoint";
}

}  // namespace

void check_master_port(const Subject& subject, Report& report) {
  // No other job on these nodes can take the port.
  if (subject.job.exclusive) return;
  static constexpr std::array<std::string_view, 3> kNames = {"MASTER_PORT", "__master_port",
                                                             "__main_process_port"};
  for (const Setting& setting : settings_of(subject.script.shell)) {
    const std::string port = is_endpoint(setting.name)
                                 ? setting.value.substr(setting.value.find_last_of(':') + 1)
                                 : setting.value;
    if (!contains(kNames, setting.name) && !is_endpoint(setting.name)) continue;
    if (!is_fixed_port(port)) continue;
    report.add(
        setting.at, "the master port is fixed: " + port.substr(0, 40),
        "two jobs on one node, or a job that is restarted, fail with \"address in use\"",
        "start the ranks with hpcboot exec, which sets a port for the job; or compute the port "
        "from the job id");
  }
}

void check_master_address(const Subject& subject, Report& report) {
  if (!subject.job.surely_many_nodes()) return;
  static constexpr std::array<std::string_view, 3> kNames = {"MASTER_ADDR", "__master_addr",
                                                             "__main_process_ip"};
  for (const Setting& setting : settings_of(subject.script.shell)) {
    const bool endpoint = is_endpoint(setting.name);
    if (!contains(kNames, setting.name) && !endpoint) continue;
    if (setting.in_condition) continue;  // usually the single-node case
    const std::string host =
        endpoint ? setting.value.substr(0, setting.value.find_last_of(':')) : setting.value;
    if (!is_loopback(host)) continue;
    report.add(
        setting.at,
        "the master address is " + host + " in a job with " + std::to_string(*subject.job.nodes) +
            " nodes",
        "every node waits for itself until the rendezvous times out",
        "start the ranks with hpcboot exec, which sets rank 0's host; or use the job's first host, "
        "from scontrol show hostnames or $PBS_NODEFILE");
  }
}

void check_cd(const Subject& subject, Report& report) {
  static constexpr std::array<std::string_view, 9> kFolders = {
      "PBS_O_WORKDIR",    "PBS_JOBDIR",   "PBS_O_HOME",
      "SLURM_SUBMIT_DIR", "SLURM_TMPDIR", "SGE_O_WORKDIR",
      "LS_SUBCWD",        "LSB_OUTDIR",   "TMPDIR"};
  // zsh does not split the value of a variable.
  if (subject.script.text.substr(0, subject.script.text.find('\n')).find("zsh") !=
      std::string_view::npos) {
    return;
  }
  for (const Command& command : subject.script.shell.commands) {
    if (command.words.size() < 2) continue;
    const std::string& name = command.words[0].text;
    if (name != "cd" && name != "pushd") continue;
    for (const Word& word : command.words) {
      for (const Expansion& expansion : word.expansions) {
        if (expansion.quoted || !contains(kFolders, expansion.name)) continue;
        report.add(expansion.at, name + " to $" + expansion.name + " without quotes",
                   std::string("a path that contains a space is split, and if the variable is not "
                               "set, ") +
                       (name == "cd" ? "cd silently goes to the home folder"
                                     : "pushd goes back to the previous folder, if there is one"),
                   name + " \"${" + expansion.name + ":?}\"");
      }
    }
  }
}

}  // namespace hpcboot::lint
