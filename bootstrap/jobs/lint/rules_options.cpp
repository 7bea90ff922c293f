#include <algorithm>
#include <array>

#include "core/contains.hpp"
#include "rules.hpp"
#include "slurm_names.hpp"

// Options that are misspelled, empty, or contradict one another or the script. The behaviour of
// sbatch was tested with 22.05.
namespace hpcboot::lint {
namespace {

template <typename Visit>
void for_each_option(const Script& script, Scheduler scheduler, Visit visit) {
  for (const Directive& directive : script.directives) {
    if (!directive.is_read || directive.scheduler != scheduler) continue;
    for (const Option& option : directive.options) visit(option);
  }
}

// The last option of this name.
const Option* last_option(const Script& script, Scheduler scheduler, std::string_view name) {
  const Option* last = nullptr;
  for_each_option(script, scheduler, [&](const Option& option) {
    if (option.name == name) last = &option;
  });
  return last;
}

// Options that make no sense without a value.
bool needs_value(Scheduler scheduler, const std::string& name) {
  static constexpr std::array<std::string_view, 22> kSlurm = {
      "account", "array",         "constraint", "cpus-per-task", "dependency", "error",
      "gpus",    "gpus-per-node", "gres",       "job-name",      "mail-type",  "mail-user",
      "mem",     "mem-per-cpu",   "nodelist",   "nodes",         "ntasks",     "ntasks-per-node",
      "output",  "partition",     "qos",        "time"};
  static constexpr std::string_view kPbs = "ANPWeloqM";
  if (scheduler == Scheduler::slurm) return contains(kSlurm, name);
  return scheduler == Scheduler::pbs && kPbs.find(name) != std::string_view::npos;
}

// The number of GPUs in "gpu:2", "gpu:a100:2", "gpu".
std::optional<int> gpus_in_gres(const std::string& gres) {
  if (gres.find(',') != std::string::npos || gres.rfind("gpu", 0) != 0) return std::nullopt;
  const std::size_t colon = gres.find_last_of(':');
  return colon == std::string::npos ? std::optional(1) : number_of(gres.substr(colon + 1));
}

// "USR1" of "B:USR1@60", "SIGUSR1", "10".
std::string signal_name(std::string text) {
  text = text.substr(0, text.find('@'));
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) text = text.substr(colon + 1);
  if (text.rfind("SIG", 0) == 0) text = text.substr(3);
  if (text == "10") return "USR1";
  if (text == "12") return "USR2";
  return text == "15" ? "TERM" : text;
}

const Word* trap_of(const Script& script, const std::string& signal) {
  for (const Command& command : script.shell.commands) {
    if (command.words.size() < 3 || command.words[0].text != "trap") continue;
    for (std::size_t i = 2; i < command.words.size(); ++i) {
      if (signal_name(command.words[i].text) == signal) return command.words.data();
    }
  }
  return nullptr;
}

bool is_a_file(const std::string& path) {
  static constexpr std::array<std::string_view, 5> kEnds = {".log", ".out", ".err", ".txt", ".o"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
    return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
  });
}

// "%4a" as "%a": sbatch pads the number with zeros.
std::string without_widths(const std::string& pattern) {
  std::string text;
  bool is_width = false;
  for (const char c : pattern) {
    is_width = c == '%' || (is_width && c >= '0' && c <= '9');
    if (!is_width || c == '%') text += c;
  }
  return text;
}

void check_output_of(const Script& script, Scheduler scheduler, const char* name,
                     std::initializer_list<const char*> marks, const char* remedy, Report& report) {
  const Option* output = last_option(script, scheduler, name);
  if (output == nullptr || output->value.empty() || output->value == "/dev/null") return;
  const std::string value =
      scheduler == Scheduler::slurm ? without_widths(output->value) : output->value;
  for (const char* mark : marks) {
    if (value.find(mark) != std::string::npos) return;
  }
  // For these, the path may name a folder.
  const bool takes_folders = scheduler == Scheduler::pbs || scheduler == Scheduler::sge;
  if (takes_folders && !is_a_file(output->value)) return;
  report.add(output->at, "all array tasks write to " + output->value.substr(0, 60),
             "the tasks overwrite one another's output, or their lines are interleaved", remedy);
}

}  // namespace

void check_unknown_options(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  for_each_option(script, Scheduler::slurm, [&](const Option& option) {
    constexpr std::size_t kLongest = 32;
    if (script.text.substr(option.at, 2) != "--" || option.name.size() > kLongest) return;
    const UnknownOption unknown = unknown_slurm_option(option.name);
    if (unknown.is_of_srun) {
      report.add(option.at, "sbatch has no option --" + option.name,
                 "sbatch rejects the script: unrecognized option",
                 "pass it to srun: srun --" + option.name + " …");
    } else if (!unknown.nearest.empty()) {
      report.add(option.at, "sbatch has no option --" + option.name,
                 "sbatch rejects the script: unrecognized option", "write --" + unknown.nearest);
    } else if (!unknown.beginnings.empty()) {
      std::string names;
      for (std::size_t i = 0; i < std::min<std::size_t>(unknown.beginnings.size(), 4); ++i)
        names += (i == 0 ? "--" : ", --") + unknown.beginnings[i];
      report.add(option.at, "--" + option.name + " is the prefix of several options",
                 "sbatch rejects the script: the option is ambiguous", "write one of " + names);
    }
  });
}

void check_empty(const Subject& subject, Report& report) {
  for (const Directive& directive : subject.script.directives) {
    if (!directive.is_read || directive.scheduler == Scheduler::sge) continue;
    if (directive.rest.find_first_not_of(" \t\r") == std::string_view::npos) {
      report.add(directive.at, std::string(prefix_of(directive.scheduler)) + " without an option",
                 "it requests nothing", "add the option, or remove the line");
    }
    for (const Option& option : directive.options) {
      if (!option.value.empty() || !needs_value(directive.scheduler, option.name)) continue;
      const bool is_long = directive.scheduler == Scheduler::slurm;
      const std::string name = (is_long ? "--" : "-") + option.name;
      // sbatch uses the default for --account= and some others, and rejects most.
      report.add(Severity::error, option.at, name + " has no value",
                 std::string(submitter_of(directive.scheduler)) +
                     " rejects the script, or silently uses the site's default",
                 "add the value, or remove " + name);
    }
  }
}

void check_memory(const Subject& subject, Report& report) {
  if (subject.job.several_parts) return;
  static constexpr std::array<const char*, 3> kNames = {"mem", "mem-per-cpu", "mem-per-gpu"};
  const Option* first = nullptr;
  for (const char* name : kNames) {
    const Option* option = last_option(subject.script, Scheduler::slurm, name);
    if (option == nullptr) continue;
    if (first != nullptr) {
      report.add(std::max(first->at, option->at),
                 "both --" + first->name + " and --" + option->name,
                 "sbatch rejects the script: they are mutually exclusive", "keep one of them");
      return;
    }
    first = option;
  }
}

void check_gres_and_gpus(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const Option* gres = last_option(script, Scheduler::slurm, "gres");
  if (subject.job.several_parts || gres == nullptr) return;
  const auto each = gpus_in_gres(gres->value);
  if (!each) return;
  for (const char* name : {"gpus-per-node", "gpus"}) {
    const Option* other = last_option(script, Scheduler::slurm, name);
    if (other == nullptr) continue;
    const auto count = number_of(other->value.substr(other->value.find_last_of(':') + 1));
    const bool is_of_all = other->name == "gpus";
    if (!count || (is_of_all && !subject.job.nodes)) continue;
    const long long asked = static_cast<long long>(*each) * (is_of_all ? *subject.job.nodes : 1);
    if (asked == *count) continue;
    report.add(std::max(gres->at, other->at),
               "--gres=" + gres->value.substr(0, 40) + " (per node) and --" + other->name + "=" +
                   other->value.substr(0, 40),
               "they request different numbers of GPUs: sbatch rejects the job, or adds them up",
               std::string("keep only --") + other->name);
  }
}

void check_signal(const Subject& subject, Report& report) {
  const Option* signal = last_option(subject.script, Scheduler::slurm, "signal");
  if (signal == nullptr) return;
  const std::string flags = signal->value.substr(0, signal->value.find(':') + 1);
  if (flags.find('B') != std::string::npos) return;
  const std::string name = signal_name(signal->value);
  if (trap_of(subject.script, name) == nullptr) return;
  report.add(signal->at, "--signal=" + signal->value.substr(0, 40) + " with a trap for " + name,
             "without B: Slurm signals the job steps but not the batch script, so the trap never "
             "runs",
             "write --signal=B:" + signal->value.substr(0, 40) +
                 ", start the training in the background, and wait for it");
}

void check_array_output(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const auto check_qsub = [&](Scheduler scheduler, const char* form, const char* remedy) {
    check_output_of(script, scheduler, "o", {form}, remedy, report);
    // With -j, the errors go to the file of the output.
    const Option* join = last_option(script, scheduler, "j");
    if (join == nullptr || join->value.rfind('n', 0) == 0)
      check_output_of(script, scheduler, "e", {form}, remedy, report);
  };
  if (last_option(script, Scheduler::slurm, "array") != nullptr) {
    for (const char* name : {"output", "error"})
      check_output_of(script, Scheduler::slurm, name, {"%a", "%j", "%J"},
                      "use %A_%a, the job id of the array and the index of the task", report);
  }
  if (last_option(script, Scheduler::pbs, "J") != nullptr) {
    check_qsub(Scheduler::pbs, "^array_index^",
               "name a folder, or add ^array_index^ to the file name");
  }
  if (last_option(script, Scheduler::sge, "t") != nullptr)
    check_qsub(Scheduler::sge, "TASK_ID", "name a folder, or add $TASK_ID to the file name");
  const Option* name = last_option(script, Scheduler::lsf, "J");
  if (name != nullptr && name->value.find('[') != std::string::npos) {
    for (const char* file : {"o", "oo", "e", "eo"})
      check_output_of(script, Scheduler::lsf, file, {"%I"}, "add %J_%I to the file name", report);
  }
}

// Torque takes -t for an array, and any -r.
void check_array_rerun(const Subject& subject, Report& report) {
  const Option* rerun = last_option(subject.script, Scheduler::pbs, "r");
  const Option* array = last_option(subject.script, Scheduler::pbs, "J");
  if (array == nullptr || rerun == nullptr || rerun->value != "n") return;
  report.add(rerun->at, "a job array (-J) with -r n",
             "qsub rejects the script: cannot submit non-rerunable Array Job", "write -r y");
}

}  // namespace hpcboot::lint
