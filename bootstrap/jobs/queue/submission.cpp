#include "submission.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"

namespace hpcboot::queue {
namespace {

// "-v A,B": qsub reads their values from its own environment, so they do not appear as arguments.
// `qstat -f` shows them anyway.
void add_variables(std::vector<std::string>& words, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  words.insert(words.end(), {"-v", list});
}

// sbatch(1), "INPUT ENVIRONMENT VARIABLES": they override the directives of the script. Inside
// another job, its SLURM_* would be passed on, and srun would read them as options. Variables that
// select the cluster, queue and account are kept: the user sets them on purpose.
std::vector<std::string> sbatch_words(const Submission& submission, const char* option) {
  static const std::set<std::string> kKept = {
      "SBATCH_ACCOUNT",    "SBATCH_PARTITION",         "SBATCH_QOS", "SBATCH_RESERVATION",
      "SBATCH_CONSTRAINT", "SBATCH_CLUSTERS",          "SLURM_CONF", "SLURM_CLUSTERS",
      "SLURM_JWT",         "SBATCH_CLUSTER_CONSTRAINT"};
  std::vector<std::string> words;
  for (const auto& [name, value] : submission.environment.variables()) {
    const bool counts = name.rfind("SBATCH_", 0) == 0 || name.rfind("SLURM_", 0) == 0;
    if (counts && kKept.count(name) == 0) words.insert(words.end(), {"-u", name});
  }
  if (!words.empty()) words.insert(words.begin(), "env");
  words.insert(words.end(), {"sbatch", option, submission.file});
  return words;
}

// The job as sbatch takes it, with the variables that sbatch_words keeps. scontrol reads
// SLURM_CLUSTERS itself.
JobDemand as_sbatch_takes(JobDemand demand, const Env& env) {
  if (const auto partition = env.text("SBATCH_PARTITION")) {
    demand.queue = *partition;
    demand.chosen_by = "SBATCH_PARTITION=…";
  }
  if (const auto cluster = env.text("SBATCH_CLUSTERS")) demand.cluster = *cluster;
  if (env.has("SLURM_CLUSTERS")) demand.cluster.clear();
  return demand;
}

std::vector<std::string> command_of(const Submission& submission) {
  const std::string& file = submission.file;
  std::vector<std::string> words;
  if (submission.scheduler == "slurm") return sbatch_words(submission, "--parsable");
  if (submission.scheduler == "lsf") return {"sh", "-c", "exec bsub <\"$1\"", "sh", file};
  if (submission.scheduler == "kubernetes") return {"kubectl", "apply", "-f", file};
  words = submission.scheduler == "sge" ? std::vector<std::string>{"qsub", "-terse"}
                                        : std::vector<std::string>{"qsub"};
  add_variables(words, submission.variables);
  words.push_back(file);
  return words;
}

CommandResult require_started(const RunCommand& run, const std::vector<std::string>& words,
                              const std::string& name) {
  CommandResult result = run(words);
  const bool is_by_another = words.front() == "sh" || words.front() == "env";
  const bool is_missing = !result.is_started || (is_by_another && result.exit_code == 127);
  if (!is_missing) return result;
  throw Error(ErrorCode::backend_unavailable, name + " cannot be started", name + " in PATH",
              "run this where jobs for that site are submitted");
}

// Throws if the command did not reach the scheduler: its failure then says nothing about the job.
void require_reached(const CommandResult& result, const std::string& name) {
  if (result.is_late) {
    throw Error(ErrorCode::backend_unavailable, name + " does not answer",
                "the scheduler to check the job within two minutes",
                "try again later, or ask the cluster's administrators whether the scheduler is "
                "down");
  }
  if (result.is_ok()) return;
  static const std::vector<std::string> kUnreachable = {
      "Unable to contact slurm controller", "failed to fetch config",
      "Could not establish a configuration source", "cannot connect to server"};
  for (const std::string& text : kUnreachable) {
    const auto at = result.output.find(text);
    if (at == std::string::npos) continue;
    const std::size_t first = result.output.rfind('\n', at) + 1;  // 0 in the first line
    throw Error(
        ErrorCode::backend_unavailable,
        name + " does not reach the scheduler: " +
            jobscripts::trimmed(result.output.substr(first, result.output.find('\n', at) - first)),
        "the server of the scheduler to answer",
        "run this on a login node of the cluster, or ask its administrators whether the "
        "scheduler is down");
  }
}

std::string name_of_command(const std::string& scheduler) {
  return scheduler == "slurm"        ? "sbatch"
         : scheduler == "lsf"        ? "bsub"
         : scheduler == "kubernetes" ? "kubectl"
                                     : "qsub";
}

// "12"; for PBS also "12.server", "12[].server".
bool is_id(const std::string& word, bool has_server) {
  const std::size_t digits = word.find_first_not_of("0123456789");
  if (digits == 0 || word.empty()) return false;
  if (digits == std::string::npos) return true;
  return has_server && (word[digits] == '.' || word.compare(digits, 2, "[]") == 0) &&
         word.find_first_not_of(
             "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-_[]", digits) ==
             std::string::npos;
}

// The output of a command, as one line for an error message.
std::string in_one_line(std::string text) {
  text = jobscripts::trimmed(text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  constexpr std::size_t kLongest = 600;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

}  // namespace

bool can_submit(const std::string& scheduler) {
  return scheduler != "none";
}

std::string job_id_in(const std::string& scheduler, const std::string& said) {
  if (scheduler == "kubernetes") return "";
  std::string id;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    line = jobscripts::trimmed(line);
    if (scheduler == "slurm") {
      line = line.substr(0, line.find(';'));  // "12;cluster"
    } else if (scheduler == "lsf") {
      if (line.rfind("Job <", 0) != 0) continue;
      line = line.substr(5, line.find('>') - 5);
    } else if (scheduler == "sge") {
      // "9.2-6:2" for an array; a qsub without -terse prints "Your job 9 (…".
      line = line.substr(0, line.find('.'));
    }
    // At some sites qsub prints more, before or after the id.
    if (is_id(line, scheduler == "pbs" || scheduler == "torque")) id = line;
  }
  return id;
}

Answer submit(const Submission& submission, const RunCommand& run) {
  const std::vector<std::string> words = command_of(submission);
  const CommandResult result = require_started(run, words, name_of_command(submission.scheduler));
  Answer answer;
  answer.is_ok = result.is_ok();
  if (answer.is_ok) answer.id = job_id_in(submission.scheduler, result.output);
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const bool is_the_id = !answer.id.empty() && job_id_in(submission.scheduler, line) == answer.id;
    if (!is_the_id) answer.said += line + "\n";
  }
  return answer;
}

std::vector<LimitProblem> problems_of(const Submission& submission, const JobDemand& demand,
                                      const RunCommand& run, std::string& said) {
  const jobscripts::Ask ask = ask_by(run);
  std::vector<LimitProblem> problems;
  const std::string& scheduler = submission.scheduler;
  std::vector<std::string> trial;
  if (scheduler == "slurm") {
    problems = slurm_limit_problems(as_sbatch_takes(demand, submission.environment), ask);
    trial = sbatch_words(submission, "--test-only");
  } else if (scheduler == "pbs" || scheduler == "torque") {
    answer_of(run, {"qstat", "-Qf"});
    problems = pbs_limit_problems(demand, ask);
  } else if (scheduler == "sge") {
    trial = {"qsub", "-w", "v", submission.file};
  } else if (scheduler == "kubernetes") {
    trial = {"kubectl", "apply", "--dry-run=server", "-f", submission.file};
  }
  if (scheduler == "lsf") said = "LSF checks a job only when it is submitted\n";
  if (trial.empty()) return problems;
  const CommandResult result = require_started(run, trial, name_of_command(scheduler));
  require_reached(result, name_of_command(scheduler));
  // Grid Engine's qsub exits with 0 in either case.
  const bool fits = result.is_ok() && (scheduler != "sge" ||
                                       result.output.find("found suitable") != std::string::npos);
  if (fits) {
    said = result.output;
  } else if (problems.empty()) {
    problems.push_back({name_of_command(scheduler) + " says: " + in_one_line(result.output),
                        "a job that the scheduler accepts",
                        "correct --nodes, --time, --gpus-per-node, or the site profile"});
  }
  return problems;
}

}  // namespace hpcboot::queue
