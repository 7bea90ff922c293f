#include <algorithm>
#include <array>
#include <cstdint>

#include "core/contains.hpp"
#include "core/counted.hpp"
#include "rules.hpp"

// Compares what the script starts with what the directives request.
namespace hpcboot::lint {
namespace {

// Without a number of tasks, a partition may assign whole nodes; the other options request cores,
// too.
std::optional<std::int64_t> slots_of_slurm(const Script& script, const JobRequest& job) {
  const auto is_given = [&](const char* name) {
    return script.option(Scheduler::slurm, name).has_value();
  };
  for (const char* name : {"mincpus", "cpus-per-gpu", "tres-per-task", "ntasks-per-socket",
                           "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-tres"}) {
    if (is_given(name)) return std::nullopt;
  }
  if (!job.tasks || (!is_given("ntasks") && !is_given("ntasks-per-node"))) return std::nullopt;
  const auto each = script.option(Scheduler::slurm, "cpus-per-task");
  const auto cores = each ? number_of(*each) : std::optional(1);
  if (!cores) return std::nullopt;
  return std::int64_t{*job.tasks} * *cores;
}

// The number of ranks that fit the job; absent if the directives do not say. An upper bound: a
// launcher may count every core as a slot.
std::optional<std::int64_t> slots_of(const Subject& subject) {
  const Script& script = subject.script;
  const JobRequest& job = subject.job;
  if (job.several_parts || job.exclusive) return std::nullopt;
  if (script.has_directives_of(Scheduler::slurm)) return slots_of_slurm(script, job);
  if (script.has_directives_of(Scheduler::pbs)) {
    std::optional<std::int64_t> slots;
    for (const PbsResource& resource : pbs_resources(script)) {
      if (resource.name != "select" && resource.name != "nodes") continue;
      slots = 0;
      for (const PbsChunk& chunk : parse_select(resource.value)) {
        if (!chunk.ncpus && !chunk.mpiprocs) return std::nullopt;  // whole nodes
        *slots += std::int64_t{chunk.count} *
                  std::max(chunk.ncpus.value_or(1), chunk.mpiprocs.value_or(1));
      }
    }
    return slots;
  }
  if (script.has_directives_of(Scheduler::lsf)) return job.tasks;
  if (const auto environment = script.option(Scheduler::sge, "pe")) {
    const std::size_t blank = environment->find_last_of(' ');
    if (blank != std::string::npos) return number_of(environment->substr(blank + 1));
  }
  return std::nullopt;
}

// The number after -np, if no other option affects the number or placement of ranks.
std::optional<int> ranks_of_mpirun(const LaunchCommand& launch) {
  static constexpr std::array<std::string_view, 4> kCount = {"-n", "-np", "--np", "-c"};
  static constexpr std::array<std::string_view, 8> kElsewhere = {
      "--hostfile", "-hostfile", "-machinefile", "--machinefile",
      "--host",     "-host",     "-hosts",       "-f"};
  if (!launch.has_all_options || launch.has_several_programs()) return std::nullopt;
  const auto& words = launch.command->words;
  std::optional<int> ranks;
  for (std::size_t i = launch.first + 1; i < launch.program; ++i) {
    const std::string& text = words[i].text;
    if (contains(kElsewhere, text) || text == "-H" ||
        text.find("versubscribe") !=
            std::string::npos ||  // --oversubscribe, rmaps_base_oversubscribe
        text.find("OVERSUBSCRIBE") != std::string::npos ||
        text.find("hwthread") != std::string::npos)
      return std::nullopt;
    if (!contains(kCount, text)) continue;
    if (ranks || i + 1 >= words.size()) return std::nullopt;
    ranks = number_of(words[i + 1].text);
    if (!ranks) return std::nullopt;
    ++i;
  }
  return ranks;
}

std::optional<int> ranks_of_srun(const LaunchCommand& launch) {
  static constexpr std::array<const char*, 4> kMore = {"overcommit", "oversubscribe", "overlap",
                                                       "jobid"};
  if (!launch.has_all_options) return std::nullopt;
  for (const char* name : kMore) {
    if (launch.options.count(name) != 0) return std::nullopt;
  }
  const auto tasks = launch.options.find("ntasks");
  return tasks == launch.options.end() ? std::nullopt : number_of(tasks->second);
}

// Also in text passed to a shell: "ssh $host torchrun …".
bool has_word(const Command& command, const std::vector<std::string_view>& names) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [&](const Word& word) { return contains(names, base_name(word.text)); });
}

// Runs in the foreground, and possibly for long?
bool keeps_the_script_alive(const Command& command) {
  static constexpr std::array<std::string_view, 15> kAtOnce = {
      ":",     "cd",       "disown", "exit",   "export", "module", "printf", "return",
      "sacct", "scontrol", "set",    "squeue", "sync",   "trap",   "unset"};
  if (command.words.empty() || command.in_background || command.in_function) return false;
  const std::string name = base_name(command.words[0].text);
  return !is_small_program(name) && !contains(kAtOnce, name);
}

// torchrun, or accelerate launch, which calls it: they start processes on their own host only.
const Word* torchrun_in(const Command& command) {
  const auto& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = base_name(words[i].text);
    if (name == "torchrun") return &words[i];
    if (name == "accelerate" && i + 1 < words.size() && words[i + 1].text == "launch")
      return &words[i];
    const bool is_module =
        words[i].text == "torch.distributed.run" || words[i].text == "torch.distributed.launch";
    if (is_module && i > 0 && words[i - 1].text == "-m") return &words[i];
  }
  return nullptr;
}

}  // namespace

void check_slots(const Subject& subject, Report& report) {
  const auto slots = slots_of(subject);
  if (!slots || *slots == 0) return;
  for (const LaunchCommand& launch : subject.launches) {
    const bool is_srun = launch.launcher == Launcher::srun;
    if (launch.command->in_condition || launch.command->in_function) continue;
    const auto ranks = is_srun ? ranks_of_srun(launch) : ranks_of_mpirun(launch);
    if (!ranks || *ranks <= *slots) continue;
    report.add(launch.command->words[launch.first].at,
               std::string(is_srun ? "srun" : "mpirun") + " starts " + std::to_string(*ranks) +
                   " ranks in a job with " + counted(*slots, "slot"),
               is_srun ? "Slurm rejects the step: more processors requested than permitted"
                       : "mpirun refuses to start, or several ranks share a core",
               "request as many slots as ranks, or start fewer ranks");
  }
}

void check_background(const Subject& subject, Report& report) {
  if (!subject.script.scheduler() || subject.launches.empty()) return;
  // Earlier background steps are meant to end with the last one.
  const LaunchCommand& last = subject.launches.back();
  if (!last.command->in_background || last.command->in_function) return;
  const auto& commands = subject.script.shell.commands;
  const bool waits = std::any_of(commands.begin(), commands.end(), [](const Command& command) {
    static const std::vector<std::string_view> kWaiting = {"wait", "fg", "tail", "sleep"};
    return has_word(command, kWaiting);
  });
  if (waits) return;
  const Command* const end = commands.data() + commands.size();
  if (std::any_of(last.command + 1, end, keeps_the_script_alive)) return;
  report.add(last.command->words[last.first].at,
             last.command->words[last.first].text.substr(0, 40) +
                 " runs in the background, and nothing waits for it",
             "the script ends at once, the job ends with it, and everything it started is killed",
             "add wait as the last line, or remove the &");
}

void check_srun_elsewhere(const Subject& subject, Report& report) {
  const auto scheduler = subject.script.scheduler();
  if (!scheduler || *scheduler == Scheduler::slurm ||
      subject.script.has_directives_of(Scheduler::slurm))
    return;
  for (const LaunchCommand& launch : subject.launches) {
    if (launch.launcher != Launcher::srun || launch.command->in_condition ||
        launch.command->in_function)
      continue;
    report.add(launch.command->words[launch.first].at,
               std::string("srun in a script with ") + prefix_of(*scheduler) + " directives",
               "srun belongs to Slurm: it does not exist here, or it requests a separate job from "
               "another cluster",
               "use mpirun, or hpcboot run -- CMD, which picks the launcher for the scheduler");
    return;
  }
}

void check_torchrun_alone(const Subject& subject, Report& report) {
  if (!subject.job.surely_many_nodes() || !subject.launches.empty()) return;
  static const std::vector<std::string_view> kStarters = {
      "ssh",  "pdsh",     "clush", "pbsdsh",    "blaunch", "hpcboot", "jsrun",     "aprun",
      "flux", "parallel", "qrsh",  "pbs_tmrsh", "ibrun",   "prun",    "ccc_mprun", "lrun"};
  const auto& commands = subject.script.shell.commands;
  if (std::any_of(commands.begin(), commands.end(),
                  [](const Command& command) { return has_word(command, kStarters); }))
    return;
  for (const Command& command : commands) {
    const Word* torchrun = torchrun_in(command);
    if (torchrun == nullptr || command.in_condition || command.in_function) continue;
    const std::string name =
        base_name(torchrun->text) == "accelerate" ? "accelerate launch" : "torchrun";
    report.add(torchrun->at,
               name + " runs only on the first of " + std::to_string(*subject.job.nodes) + " nodes",
               "a batch script runs on one node: the others stay idle, or " + name +
                   " waits for them until it times out",
               "start " + name + " once per node: srun --ntasks-per-node=1 " + name +
                   " …, or hpcboot run --torchrun -- train.py");
    return;
  }
}

}  // namespace hpcboot::lint
