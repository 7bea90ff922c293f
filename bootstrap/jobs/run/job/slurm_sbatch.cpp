#include "slurm_sbatch.hpp"

#include <algorithm>
#include <sstream>

#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "slurm_squeue.hpp"

namespace hpcboot::run {
namespace {

using Words = std::vector<std::string>;

struct FromVariable {
  const char* variable;
  const char* option;
};

// Requests from the submission that squeue does not distinguish.
constexpr FromVariable kFromVariables[] = {
    {"SLURM_NTASKS", "--ntasks"},
    {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node"},
    {"SLURM_NTASKS_PER_SOCKET", "--ntasks-per-socket"},
    {"SLURM_NTASKS_PER_CORE", "--ntasks-per-core"},
    {"SLURM_NTASKS_PER_GPU", "--ntasks-per-gpu"},
    {"SLURM_CPUS_PER_TASK", "--cpus-per-task"},
    {"SLURM_CPUS_PER_GPU", "--cpus-per-gpu"},
    {"SLURM_GPUS", "--gpus"},
    {"SLURM_GPUS_PER_NODE", "--gpus-per-node"},
    {"SLURM_GPUS_PER_SOCKET", "--gpus-per-socket"},
    {"SLURM_GPUS_PER_TASK", "--gpus-per-task"},
    {"SLURM_HINT", "--hint"},
};

void add(Words& words, const std::string& option, std::string_view value) {
  if (!value.empty()) words.push_back(option + "=" + std::string(value));
}

// Slurm accepts one of the three. "0" from squeue means all memory of a node, which no variable
// contains.
void add_memory(Words& words, const Env& env, const std::string& smallest) {
  constexpr FromVariable kMemory[] = {{"SLURM_MEM_PER_GPU", "--mem-per-gpu"},
                                      {"SLURM_MEM_PER_CPU", "--mem-per-cpu"},
                                      {"SLURM_MEM_PER_NODE", "--mem"}};
  for (const auto& [variable, option] : kMemory) {
    if (const auto value = env.text(variable)) return add(words, option, *value);
  }
  if (smallest == "0") words.push_back("--mem=0");
}

// "gres:gpu:a100:2,gres:nvme:1", since Slurm 23.02 "gres/gpu:a100:2"; GPUs that a variable names
// are not requested again.
std::string gres_option(const std::string& tres, bool without_gpus) {
  std::string gres;
  std::istringstream entries(tres);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry.rfind("gres:", 0) == 0 || entry.rfind("gres/", 0) == 0) entry.erase(0, 5);
    if (without_gpus && entry.rfind("gpu", 0) == 0) continue;
    gres += (gres.empty() ? "" : ",") + entry;
  }
  return gres;
}

void add_sharing(Words& words, const std::string& sharing) {
  if (sharing == "NO") words.push_back("--exclusive");
  if (sharing == "USER") words.push_back("--exclusive=user");
  if (sharing == "MCS") words.push_back("--exclusive=mcs");
  if (sharing == "YES") words.push_back("--oversubscribe");
}

void add_resources(Words& words, const Surroundings& s, const std::string& id) {
  const Words c = squeue_columns(s, id, "PaqvDlfWynxhbm");
  constexpr const char* kOptions[] = {"--partition", "--account", "--qos",        "--reservation",
                                      "--nodes",     "--time",    "--constraint", "--licenses"};
  std::size_t i = 0;
  for (const char* option : kOptions) add(words, option, c[i++]);
  // Smaller values are reserved for operators.
  const std::string& nice = c[i++];
  if (parse_whole_number(nice).value_or(0) > 0) add(words, "--nice", nice);
  add(words, "--nodelist", c[i++]);
  add(words, "--exclude", c[i++]);
  add_sharing(words, c[i++]);
  add(words, "--gres", gres_option(c[i++], s.env.has("SLURM_GPUS_PER_NODE")));
  add_memory(words, s.env, c[i++]);
  for (const auto& [variable, option] : kFromVariables)
    add(words, option, s.env.text(variable).value_or(""));
}

// Output goes to the file that the pattern gives for the new number, or is appended to the same
// file.
void add_files(Words& words, const Surroundings& s, const std::string& id) {
  const Words texts =
      squeue_texts(s, id, {"Name", "Comment", "WorkDir", "STDOUT", "STDERR", "STDIN"});
  add(words, "--job-name", texts[0]);
  add(words, "--comment", texts[1]);
  add(words, "--chdir", texts[2]);
  add(words, "--output", texts[3]);
  if (texts[4] != texts[3]) add(words, "--error", texts[4]);
  if (texts[5] != "/dev/null") add(words, "--input", texts[5]);
  words.push_back("--open-mode=append");
}

// sbatch with the environment of this process, but without options for other calls, counters of
// this job, and secrets, which Slurm would store. SBATCH_SIGNAL is kept: it was in effect for this
// job and is recorded nowhere else.
Words sbatch_command(const Env& env, const Words& options) {
  Words words{"env"};
  for (const auto& [name, value] : env.variables()) {
    const bool is_option = name.rfind("SBATCH_", 0) == 0 && name != "SBATCH_SIGNAL";
    const bool is_of_this_job = name == "SLURM_RESTART_COUNT" || name == "SLURM_CLUSTERS" ||
                                name == "SLURM_WORKING_CLUSTER" ||
                                name.rfind("HPCBOOT_RUN_", 0) == 0;
    if (is_option || is_of_this_job) words.insert(words.end(), {"-u", name});
  }
  words.insert(words.end(), {"sbatch", "--parsable", "--export=ALL"});
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

// Empty if the process has ended or is hidden by a container.
std::string text_in_proc(const Surroundings& s, const std::string& process, const char* file) {
  try {
    return s.read_file("/proc/" + process + "/" + file);
  } catch (const Error&) {
    return "";
  }
}

// From "PID (name) state parent …"; the name may contain spaces and parentheses. Empty: unknown.
std::string parent_of(const Surroundings& s, const std::string& process) {
  const std::string line = text_in_proc(s, process, "stat");
  std::istringstream after_name(line.substr(std::min(line.rfind(')'), line.size())));
  std::string word;
  std::string parent;
  after_name >> word >> word >> parent;
  return parent;
}

Words command_line(const Surroundings& s, const std::string& process) {
  Words words;
  std::istringstream text(text_in_proc(s, process, "cmdline"));
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  return words;
}

bool is_batch_script(const std::string& word) {
  const std::string name = "/slurm_script";
  return word.size() > name.size() &&
         word.compare(word.size() - name.size(), name.size(), name) == 0;
}

// Read from the ancestor shell that runs the script, as squeue joins the arguments with spaces. If
// the script replaced itself with this program by exec, squeue is the only source.
Words script_arguments(const Surroundings& s, const std::string& id) {
  constexpr int kMostParents = 32;
  std::string process = parent_of(s, "self");
  for (int i = 0; i < kMostParents && !process.empty() && process != "0"; ++i) {
    const Words words = command_line(s, process);
    const auto script = std::find_if(words.begin(), words.end(), is_batch_script);
    if (script != words.end()) return {script + 1, words.end()};
    process = parent_of(s, process);
  }
  const std::string command = squeue_texts(s, id, {"Command"}).front();
  if (command.find(' ') == std::string::npos) return {};
  throw Error(ErrorCode::backend_unavailable,
              "the batch script of job " + id +
                  " is not an ancestor of this process, and squeue reports only '" + command + "'",
              "the script's arguments as separate words", "start `hpcboot run` without exec");
}

std::string script_of(const Surroundings& s, const std::string& id) {
  // Its standard error is not part of the script.
  const std::string script = answer_of(s, {"sh", "-c", "exec \"$0\" \"$@\" 2>/dev/null", "scontrol",
                                           "write", "batch_script", id, "-"});
  if (script.rfind("#!", 0) == 0) return script;
  throw Error(ErrorCode::backend_unavailable, "Slurm has no batch script for job " + id,
              "a job that was submitted with sbatch", "submit it with sbatch, or start it again");
}

// The number in "13" or "13;cluster", among warnings; empty: none.
std::string submitted_id(const std::string& output) {
  std::istringstream lines(output);
  std::string id;
  for (std::string line; std::getline(lines, line);) {
    const std::string number = line.substr(0, line.find(';'));
    if (parse_whole_number(number)) id = number;
  }
  return id;
}

}  // namespace

std::string task_of(const std::string& id) {
  const std::size_t end = id.find('_');
  return end == std::string::npos ? "" : id.substr(end + 1);
}

std::vector<std::string> sbatch_options(const Surroundings& s, const std::string& id) {
  if (s.env.has("SLURM_HET_SIZE")) {
    throw Error(ErrorCode::backend_unavailable, "job " + id + " is heterogeneous",
                "a job with one kind of node, which can resubmit itself",
                "submit it again by hand");
  }
  Words words;
  add(words, "--array", task_of(id));
  add_resources(words, s, id);
  add_files(words, s, id);
  return words;
}

std::string reason_against_exclusion(const Surroundings& s, std::vector<std::string> options,
                                     const std::string& excluded) {
  options.insert(options.end(), {"--exclude=" + excluded, "--test-only"});
  const CommandResult test = s.run_command(sbatch_command(s.env, options), "#!/bin/sh\n");
  if (test.is_ok() && !test.is_late) return "";
  const std::string text = test.is_late ? "sbatch --test-only does not answer" : test.output;
  return text.substr(0, text.find('\n'));
}

std::string submit_again(const Surroundings& s, const std::string& id,
                         const std::vector<std::string>& options) {
  const std::string script = script_of(s, id);
  const Words arguments = script_arguments(s, id);
  Words words = sbatch_command(s.env, options);
  words.push_back("/dev/stdin");
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string answer = answer_of(s, words, script);
  const std::string new_id = submitted_id(answer);
  if (!new_id.empty()) return new_id;
  throw Error(ErrorCode::backend_unavailable, "unexpected output of sbatch: '" + answer + "'",
              "the job number", "check with squeue whether the job is queued");
}

}  // namespace hpcboot::run
