#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "hpcboot/launch_source.hpp"
#include "rules.hpp"

// How srun and mpirun are called.
namespace hpcboot::lint {
namespace {

// Variables that differ from task to task. In the batch script Slurm's are 0 and the others unset.
// RANK and similar are excluded: scripts often set them themselves.
bool is_of_a_task(const std::string& name) {
  const auto& all = launch_sources();
  return std::any_of(all.begin(), all.end(), [&](const LaunchSource* launcher) {
    if (launcher->level != Level::mpi_launcher && launcher->level != Level::scheduler_step &&
        launcher->level != Level::library)
      return false;
    const LaunchVariable* found = launcher->variables.find(name);
    return found != nullptr && found->kind == VariableKind::identity;
  });
}

std::string value_in_script(const std::string& name) {
  return name.rfind("SLURM_", 0) == 0 ? "0" : "nothing";
}

// Does the script launch itself? Then it may also run as a task.
bool starts_itself(const Subject& subject) {
  return std::any_of(
      subject.launches.begin(), subject.launches.end(), [](const LaunchCommand& launch) {
        return std::any_of(
            launch.command->words.begin(), launch.command->words.end(), [](const Word& word) {
              return word.text.find("$0") != std::string::npos ||
                     std::any_of(word.expansions.begin(), word.expansions.end(),
                                 [](const Expansion& e) { return e.name == "BASH_SOURCE"; });
            });
      });
}

// The file to which cat or tee writes its here-document; empty if there is none.
std::string written_file(const Command& command) {
  if (command.words.empty() || command.input.empty()) return "";
  const std::string& name = command.words[0].text;
  if (name == "cat") return command.output;
  return name == "tee" ? command.words.back().text : "";
}

// The words of all launches of several tasks, each once, and a NUL before each.
std::string launched_words(const Subject& subject) {
  std::set<std::string_view> words;
  for (const LaunchCommand& launch : subject.launches) {
    if (launch.launcher == Launcher::srun && tasks_of(launch, subject.job) == 1) continue;
    const auto& all = launch.command->words;
    for (std::size_t i = launch.first + 1; i < all.size(); ++i) words.insert(all[i].text);
  }
  std::string text;
  for (const std::string_view word : words) text.append(1, '\0').append(word);
  return text;
}

// Do the launched words refer to the file?
bool is_launched(const std::string& words, const std::string& file) {
  const std::string plain = file.rfind("./", 0) == 0 ? file.substr(2) : file;
  return !plain.empty() && words.find(plain) != std::string::npos;
}

bool starts_several(const LaunchCommand& launch, const JobRequest& job) {
  if (launch.launcher == Launcher::mpirun) return true;
  const auto tasks = tasks_of(launch, job);
  return tasks ? *tasks > 1 : job.surely_many_tasks();
}

// Does the script definitely start several tasks?
bool starts_several(const Subject& subject) {
  return std::any_of(
      subject.launches.begin(), subject.launches.end(),
      [&](const LaunchCommand& launch) { return starts_several(launch, subject.job); });
}

// "$(hpcboot env)", `build/bin/hpcboot env`
bool calls_hpcboot_env(const std::string& text) {
  const std::size_t at = text.find("hpcboot env");
  if (at == std::string::npos || at == 0) return false;
  const char before = text[at - 1];
  return before == '(' || before == '/' || before == '`' || before == ' ';
}

// torchrun --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT: one endpoint for all tasks is correct here.
bool uses_master(const Command& command) {
  return std::any_of(command.words.begin(), command.words.end(), [](const Word& word) {
    return std::any_of(word.expansions.begin(), word.expansions.end(), [](const Expansion& e) {
      return e.name == "MASTER_ADDR" || e.name == "MASTER_PORT";
    });
  });
}

std::size_t start_of(const LaunchCommand& launch) {
  return launch.command->words[launch.first].at;
}

// The launches that inherit what the script exports, in the order of their places. One within
// another launch, or similar, may come later in the list than in the script: it is left out.
std::vector<const LaunchCommand*> served_launches(const Subject& subject) {
  std::vector<const LaunchCommand*> served;
  for (const LaunchCommand& launch : subject.launches) {
    if (!served.empty() && start_of(*served.back()) >= start_of(launch)) continue;
    if (starts_several(launch, subject.job) && !uses_master(*launch.command))
      served.push_back(&launch);
  }
  return served;
}

// RANK=…, "… --node_rank …": ignoring the names of the expanded variables.
bool has_rank(std::string text) {
  text.resize(std::min(text.find('$'), text.size()));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text.find("rank") != std::string::npos;
}

void add_in_launch(const Expansion& expansion, bool in_shell_text, const char* launcher,
                   Report& report) {
  const std::string& name = expansion.name;
  report.add(expansion.at, "$" + name + " is expanded before " + launcher + " starts the tasks",
             "the batch script's shell replaces it with " + value_in_script(name) +
                 ", the same for every task",
             in_shell_text ? "put the command in single quotes, or write \\$" + name
                           : std::string("use ") + launcher + " … bash -c 'CMD … \"$" + name +
                                 "\"', or let the program read it (hpcboot exec -- CMD sets RANK)");
}

// torchrun --nproc_per_node=4, --nproc-per-node gpu
bool has_several_workers(const LaunchCommand& launch) {
  const auto& words = launch.command->words;
  for (std::size_t i = launch.program; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (text.rfind("--nproc", 0) != 0) continue;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) return text.substr(equals + 1) != "1";
    return i + 1 < words.size() && words[i + 1].text != "1";
  }
  return false;
}

bool sets_kill_on_bad_exit(const Script& script) {
  return script.text.find("SLURM_KILL_BAD_EXIT") != std::string_view::npos;
}

}  // namespace

void check_early_rank(const Subject& subject, Report& report) {
  // 0 is correct for the only task of each node.
  const bool one_a_node = subject.job.tasks_per_node == 1;
  const auto differs = [&](const Expansion& expansion) {
    return is_of_a_task(expansion.name) && !(one_a_node && expansion.name == "SLURM_LOCALID");
  };
  for (const LaunchCommand& launch : subject.launches) {
    const auto& words = launch.command->words;
    const bool is_srun = launch.launcher == Launcher::srun;
    const char* launcher = is_srun ? "srun" : "mpirun";
    // Slurm's 0 is correct for the only task of a step, too.
    const bool has_one_task = is_srun && tasks_of(launch, subject.job) == 1;
    const auto is_early = [&](const Expansion& expansion) {
      return differs(expansion) && !(has_one_task && value_in_script(expansion.name) == "0");
    };
    for (std::size_t i = launch.first + 1; i < words.size(); ++i) {
      for (const Expansion& expansion : words[i].expansions) {
        const bool in_text =
            expansion.quoted && (words[i - 1].text == "-c" || words[i - 1].text == "-lc");
        if (is_early(expansion)) add_in_launch(expansion, in_text, launcher, report);
      }
    }
    for (const Expansion& expansion : launch.command->input) {
      if (is_early(expansion)) {
        report.add(expansion.at,
                   "$" + expansion.name + " is expanded before " + launcher + " starts the tasks",
                   "the shell expands variables in a here-document whose delimiter is not quoted",
                   "quote the delimiter: <<'EOF'");
      }
    }
  }
  if (starts_itself(subject)) return;
  const std::string launched = launched_words(subject);
  for (const Command& command : subject.script.shell.commands) {
    const std::string file = written_file(command);
    if (command.in_function || !std::any_of(command.input.begin(), command.input.end(), differs) ||
        !is_launched(launched, file))
      continue;
    for (const Expansion& expansion : command.input) {
      if (!differs(expansion)) continue;
      report.add(expansion.at,
                 "$" + expansion.name + " is expanded when " + file.substr(0, 60) + " is written",
                 "the shell expands variables in a here-document whose delimiter is not quoted, so "
                 "every task that runs the file sees " +
                     value_in_script(expansion.name),
                 "quote the delimiter: <<'EOF', or write \\$" + expansion.name);
    }
  }
  // Also in the batch script's own assignments. A script without directives may be the one that the
  // tasks run.
  if (!subject.script.scheduler() || !starts_several(subject)) return;
  for (const Command& command : subject.script.shell.commands) {
    if (command.in_function) continue;
    std::vector<const Word*> assignments;
    for (const Word& word : command.assignments) assignments.push_back(&word);
    if (!command.words.empty() &&
        (command.words[0].text == "export" || command.words[0].text == "declare" ||
         command.words[0].text == "readonly")) {
      for (const Word& word : command.words) assignments.push_back(&word);
    }
    for (const Word* word : assignments) {
      for (const Expansion& expansion : word->expansions) {
        if (!differs(expansion)) continue;
        // It may just be part of a file name; a rank derived from it is wrong.
        const Severity severity = has_rank(word->text) ? Severity::error : Severity::warning;
        report.add(severity, expansion.at, "$" + expansion.name + " is read in the batch script",
                   "there it holds " + value_in_script(expansion.name) +
                       ", so anything derived from it is the same for every task",
                   "read it in the task: srun bash -c '… \"$" + expansion.name +
                       "\"', or start the program with hpcboot exec");
      }
    }
  }
}

void check_env_before_srun(const Subject& subject, Report& report) {
  if (!subject.script.scheduler() || starts_itself(subject)) return;
  const std::vector<const LaunchCommand*> served = served_launches(subject);
  for (const Command& command : subject.script.shell.commands) {
    if (command.in_function || command.words.size() < 2 || command.words[0].text != "eval" ||
        !calls_hpcboot_env(command.words[1].text))
      continue;
    const std::size_t at = command.words[0].at;
    const auto first = std::upper_bound(
        served.begin(), served.end(), at,
        [](std::size_t here, const LaunchCommand* launch) { return here < start_of(*launch); });
    if (first == served.end()) continue;
    const char* launcher = (*first)->launcher == Launcher::srun ? "srun" : "mpirun";
    report.add(at, "hpcboot env runs in the batch script, before " + std::string(launcher),
               "its exports describe one process, but every task inherits them",
               std::string("use ") + launcher + " hpcboot exec -- CMD");
  }
}

void check_kill_on_bad_exit(const Subject& subject, Report& report) {
  if (sets_kill_on_bad_exit(subject.script)) return;
  for (const LaunchCommand& launch : subject.launches) {
    if (launch.launcher != Launcher::srun || launch.options.count("kill-on-bad-exit") != 0)
      continue;
    if (!launch.has_all_options || launch.options.count("pty") != 0 ||
        is_small_program(launch.program_name()))
      continue;
    const auto tasks = tasks_of(launch, subject.job);
    if (!tasks || *tasks < 2) continue;
    report.add(launch.command->words[launch.first].at,
               "srun starts " + std::to_string(*tasks) + " tasks without --kill-on-bad-exit",
               "if one rank dies, the others wait for it until the time limit",
               "use srun --kill-on-bad-exit=1 …");
  }
}

void check_launcher_in_srun(const Subject& subject, Report& report) {
  for (const LaunchCommand& launch : subject.launches) {
    if (launch.launcher != Launcher::srun || launch.program >= launch.command->words.size())
      continue;
    const auto& words = launch.command->words;
    const std::string program = launch.program_name();
    if (is_mpirun(program)) {
      const auto tasks = tasks_of(launch, subject.job);
      if (!tasks || *tasks < 2) continue;
      report.add(words[launch.program].at,
                 "srun starts " + program + " " + std::to_string(*tasks) + " times",
                 "each one starts all ranks again, or fails for lack of slots",
                 "use srun --mpi=pmix CMD, or " + program + " CMD without srun");
    } else if (program == "torchrun") {
      const auto each = tasks_per_node_of(launch, subject.job);
      if (!each || *each < 2 || !has_several_workers(launch)) continue;
      report.add(
          words[launch.program].at,
          "srun starts torchrun " + std::to_string(*each) + " times on each node",
          "each one starts all workers of the node again",
          "use one task per node: --ntasks-per-node=1, with --cpus-per-task for all its cores");
    }
  }
}

}  // namespace hpcboot::lint
