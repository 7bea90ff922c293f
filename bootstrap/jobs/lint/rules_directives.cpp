#include <algorithm>
#include <array>
#include <cctype>

#include "core/contains.hpp"
#include "core/word_distance.hpp"
#include "rules.hpp"

// The position and form of directives.
namespace hpcboot::lint {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view without_indent(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

const char* name_of(Scheduler scheduler) {
  static constexpr std::array<const char*, 4> kNames = {"Slurm", "PBS", "Grid Engine", "LSF"};
  return kNames[static_cast<std::size_t>(scheduler)];
}

// Long options of sbatch that users write with one dash.
bool is_long_option(std::string_view name) {
  static constexpr std::array<std::string_view, 28> kNames = {
      "account",       "array",         "chdir",    "constraint", "cpus-per-gpu", "cpus-per-task",
      "dependency",    "error",         "exclude",  "exclusive",  "export",       "gpus",
      "gpus-per-node", "gpus-per-task", "gres",     "job-name",   "mail-type",    "mail-user",
      "mem",           "mem-per-cpu",   "nodelist", "nodes",      "ntasks",       "ntasks-per-node",
      "output",        "partition",     "qos",      "time"};
  return contains(kNames, name);
}

// "#sbatch --nodes=2" and "#pbs -N x", but not "#sbatch -N 2 job.sh", a note on how to submit.
bool has_options_alone(Scheduler scheduler, std::string_view rest) {
  auto words = split_directive(rest, 0);
  read_options(scheduler, words);
  return std::all_of(words.begin(), words.end(), [](const DirectiveWord& word) {
    return word.is_value || starts_with(word.text, "-");
  });
}

// "#SBACTH" and "# SBATCH": the prefix that the comment line resembles, or nullptr.
const char* nearly_prefix(std::string_view line) {
  const std::string_view from_hash = without_indent(line);
  if (from_hash.empty() || from_hash[0] != '#') return nullptr;
  const std::string_view rest = without_indent(from_hash.substr(1));
  const bool sticks = rest.size() + 1 == from_hash.size();
  if (!sticks && starts_with(rest, "$")) {
    // "# $ -cwd"; but "# $ ls -l" is a command line.
    const std::string_view option = without_indent(rest.substr(1));
    const bool is_option = option.size() > 1 && option[0] == '-' &&
                           std::isalpha(static_cast<unsigned char>(option[1])) != 0;
    return is_option ? "#$" : nullptr;
  }
  std::size_t length = 0;
  while (length < rest.size() && std::isalpha(static_cast<unsigned char>(rest[length])) != 0)
    ++length;
  const std::string_view word = rest.substr(0, length);
  if (!starts_with(without_indent(rest.substr(length)), "-")) return nullptr;
  if (std::none_of(word.begin(), word.end(),
                   [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; })) {
    const std::string_view options = rest.substr(length);
    if (sticks && word == "sbatch" && has_options_alone(Scheduler::slurm, options))
      return "#SBATCH";
    if (sticks && word == "pbs" && has_options_alone(Scheduler::pbs, options)) return "#PBS";
    return nullptr;
  }
  std::string upper(word);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  if (upper == "PBS") return "#PBS";
  if (upper == "BSUB") return "#BSUB";
  // "# WATCH -n 1" is prose.
  if (upper == "SBATCH" || (sticks && word_distance(upper, "SBATCH", 2) <= 2)) return "#SBATCH";
  return nullptr;
}

void check_slurm_words(const Directive& directive, Report& report) {
  const auto& words = directive.words;
  if (words.empty() || words[0].text == "hetjob" || words[0].text == "packjob") return;
  for (const Option& option : directive.options) {
    // The rest of the word is the value: -p=gpu requests the partition "=gpu".
    if (starts_with(option.value, "=")) {
      report.add(option.value_at, "the value of --" + option.name + " starts with =",
                 "after a short option or a space, the = is part of the value",
                 "write --" + option.name + option.value.substr(0, 60) + ", without spaces");
      return;
    }
  }
  for (const DirectiveWord& word : words) {
    if (!starts_with(word.text, "-") || starts_with(word.text, "--")) continue;
    const std::string name = word.text.substr(1, word.text.find('=') - 1);
    if (name.size() > 1 && is_long_option(name)) {
      report.add(word.at, "-" + name + " has only one dash",
                 "sbatch reads it as -" + name.substr(0, 1) + " with the value \"" +
                     word.text.substr(2, 60) + "\"",
                 "write --" + word.text.substr(1, 60));
      return;
    }
  }
  // sbatch rejects a word that is neither an option nor an option's value.
  for (const DirectiveWord& word : words) {
    if (word.is_value || starts_with(word.text, "-") || word.text.empty() ||
        static_cast<unsigned char>(word.text[0]) >= 0x80) {
      continue;
    }
    report.add(word.at, "\"" + word.text.substr(0, 60) + "\" is neither an option nor a value",
               "sbatch rejects the script: invalid directive",
               "write --OPTION=VALUE, and quote a value that contains spaces");
    return;
  }
}

void check_pbs_words(const Directive& directive, Report& report) {
  const auto& words = directive.words;
  if (words.empty()) return;
  for (const DirectiveWord& word : words) {
    if (starts_with(word.text, "--") && word.text.size() > 2 && word.text != "--version") {
      report.add(word.at, "qsub has no option " + word.text.substr(0, word.text.find('=')),
                 "qsub options are single letters; long options belong to Slurm",
                 "write -l select=…, -l walltime=…, -N NAME, -q QUEUE, -A ACCOUNT");
      return;
    }
  }
  if (starts_with(directive.rest, " ") && !starts_with(words[0].text, "-") &&
      words[0].text.find('=') != std::string::npos) {
    report.add(words[0].at, "\"" + words[0].text.substr(0, 60) + "\" is not an option",
               "resources are requested with -l", "write #PBS -l " + words[0].text.substr(0, 60));
  }
}

// Torque expands HOME and its own variables in the paths of -o and -e; PBS Pro and OpenPBS do not.
void check_pbs_path(const Option& option, std::size_t dollar, Report& report) {
  const std::size_t name = option.value.find_first_not_of("${", dollar);
  if (name == std::string::npos || option.value.compare(name, 4, "PBS_") == 0 ||
      option.value.compare(name, 4, "HOME") == 0)
    return;
  report.add(Severity::warning, option.at,
             "a variable in the path of -" + option.name + ": " + option.value.substr(0, 80),
             "qsub takes it literally: the output goes to a folder of that name, or is lost",
             "write the full path, or one relative to the submission folder");
}

}  // namespace

void check_after_command(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const Directive* first = nullptr;
  std::string others;
  std::size_t count = 0;
  for (const Directive& directive : script.directives) {
    if (directive.is_read) continue;
    if (first == nullptr) {
      first = &directive;
    } else if (++count <= 8) {
      others += (others.empty() ? "" : ", ") + std::to_string(script.line_of(directive.at));
    }
  }
  if (first == nullptr) return;
  const std::string line = std::to_string(*script.first_command + 1);
  report.add(
      first->at,
      std::string("this ") + prefix_of(first->scheduler) + " comes after the first command (line " +
          line + ") and is ignored" +
          (others.empty() ? ""
                          : (count == 1 ? "; also ignored: line " : "; also ignored: lines ") +
                                others + (count > 8 ? ", …" : "")),
      std::string(submitter_of(first->scheduler)) +
          " reads directives up to the first command and silently skips later ones",
      "move it above line " + line);
}

void check_not_read(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    if (script.first_command && i >= *script.first_command) return;
    const Line& line = script.lines[i];
    if (line.is_directive) continue;
    const char* prefix = nearly_prefix(line.text);
    if (prefix == nullptr) continue;
    report.add(line.at,
               std::string("this line is a comment, but looks like a directive: ") + prefix,
               std::string("a directive must start with ") + prefix + " in the first column",
               std::string("write ") + prefix + "; to keep it disabled, write #" + prefix);
  }
}

void check_form(const Subject& subject, Report& report) {
  for (const Directive& directive : subject.script.directives) {
    if (!directive.is_read) continue;
    if (directive.scheduler == Scheduler::slurm) check_slurm_words(directive, report);
    if (directive.scheduler == Scheduler::pbs) check_pbs_words(directive, report);
  }
}

void check_variables(const Subject& subject, Report& report) {
  for (const Directive& directive : subject.script.directives) {
    if (!directive.is_read) continue;
    const bool slurm = directive.scheduler == Scheduler::slurm;
    if (!slurm && directive.scheduler != Scheduler::pbs) continue;
    for (const Option& option : directive.options) {
      // Some versions of PBS expand variables in the paths of -o and -e, and -v takes names.
      const bool is_pbs_path = !slurm && (option.name == "o" || option.name == "e");
      if (!slurm && !is_pbs_path &&
          std::string_view("lNqA").find(option.name) == std::string_view::npos)
        continue;
      const std::size_t dollar = option.value.find('$');
      const bool is_path = slurm && (option.name == "output" || option.name == "error" ||
                                     option.name == "input" || option.name == "chdir");
      const bool has_variable =
          dollar != std::string::npos && dollar + 1 < option.value.size() &&
          (std::isalpha(static_cast<unsigned char>(option.value[dollar + 1])) != 0 ||
           std::string_view("_{(").find(option.value[dollar + 1]) != std::string_view::npos);
      const bool has_tilde = is_path && starts_with(option.value, "~/");
      if (!has_variable && !has_tilde) continue;
      if (is_pbs_path) {
        check_pbs_path(option, dollar, report);
        continue;
      }
      report.add(option.at,
                 std::string(has_variable ? "a variable" : "~") +
                     " in a directive: " + option.value.substr(0, 80),
                 std::string("no shell expands directives: ") + submitter_of(directive.scheduler) +
                     " uses it literally",
                 is_path
                     ? "write a path relative to the submission folder, with %j for the job id, or "
                       "pass the option on the sbatch command line"
                     : std::string("write the value, or pass the option on the ") +
                           submitter_of(directive.scheduler) + " command line");
    }
  }
}

void check_mixed(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const auto first = script.scheduler();
  if (!first) return;
  for (const Directive& directive : script.directives) {
    if (!directive.is_read || directive.scheduler == *first) continue;
    report.add(directive.at,
               std::string("a directive for ") + name_of(directive.scheduler) +
                   " in a script with directives for " + name_of(*first),
               *first == Scheduler::slurm || directive.scheduler == Scheduler::slurm
                   ? "sbatch also reads #PBS and #BSUB lines, and the last of two settings wins"
                   : "only one scheduler's directives are read, without any message",
               "keep one script per scheduler, or disable this rule");
    return;
  }
}

}  // namespace hpcboot::lint
