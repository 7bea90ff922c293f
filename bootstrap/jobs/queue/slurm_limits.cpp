#include <algorithm>

#include "jobs/probe/probe_text.hpp"
#include "jobs/walltime.hpp"
#include "limits.hpp"

// scontrol(1), "show partition"; tested with 22.05. If EnforcePartLimits is NO, the default, sbatch
// accepts such a job, and it waits forever (PartitionTimeLimit, PartitionNodeLimit).
namespace hpcboot::queue {
namespace {

using jobscripts::split;

// "KEY=VALUE" among the words of a line.
std::string field(const std::string& line, const std::string& key) {
  for (const std::string& word : jobscripts::words_in(line)) {
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  }
  return "";
}

std::string line_of(const std::string& partitions, const std::string& name) {
  for (const std::string& line : split(partitions, '\n')) {
    if (name.empty() ? field(line, "Default") == "YES" : field(line, "PartitionName") == name)
      return line;
  }
  return "";
}

std::string others(const std::string& partitions, const std::string& name,
                   const std::string& chosen_by) {
  std::string list;
  for (const std::string& line : split(partitions, '\n')) {
    const std::string other = field(line, "PartitionName");
    if (!other.empty() && other != name) list += (list.empty() ? "" : ", ") + other;
  }
  return list.empty() ? "" : ", or choose another partition with " + chosen_by + " (" + list + ")";
}

}  // namespace

std::vector<LimitProblem> slurm_limit_problems(const JobDemand& job, const jobscripts::Ask& ask) {
  // Several, "a,b": Slurm chooses the one that fits.
  if (job.queue.find(',') != std::string::npos) return {};
  std::vector<std::string> words = {"scontrol", "--oneliner", "show", "partition"};
  if (!job.cluster.empty()) words.insert(words.begin() + 1, "--clusters=" + job.cluster);
  const std::string all = ask(words).value_or("");
  const std::string line = line_of(all, job.queue);
  if (line.empty()) return {};
  const std::string name = field(line, "PartitionName");
  const std::string source = "scontrol show partition " + name;
  const std::string elsewhere = others(all, name, job.chosen_by);
  std::vector<LimitProblem> problems;
  const auto most = jobscripts::seconds_of(field(line, "MaxTime"));
  if (most && job.shape.seconds > *most) {
    problems.push_back({"a walltime of " + jobscripts::time_of(job.shape.seconds),
                        "at most " + jobscripts::time_of(*most) + " (" + source + ")",
                        "use --time " + jobscripts::time_of(*most) + elsewhere});
  }
  const auto number = [&](const char* key) {
    return static_cast<long>(jobscripts::leading_number(field(line, key)));
  };
  // "UNLIMITED" reads as 0.
  const long most_nodes = number("MaxNodes") > 0
                              ? std::min(number("MaxNodes"), number("TotalNodes"))
                              : number("TotalNodes");
  require_at_most(problems, "nodes", job.shape.nodes, most_nodes, source,
                  "lower --nodes" + elsewhere);
  if (job.shape.nodes < number("MinNodes")) {
    problems.push_back({std::to_string(job.shape.nodes) + " nodes",
                        "at least " + field(line, "MinNodes") + " (" + source + ")",
                        "raise --nodes" + elsewhere});
  }
  require_at_most(problems, "cores on a node", job.shape.cores, number("MaxCPUsPerNode"), source,
                  "lower node.cores with --set" + elsewhere);
  require_at_most(problems, "MiB of memory on a node", job.shape.memory_gb * 1024L,
                  number("MaxMemPerNode"), source, "lower node.memory_gb with --set" + elsewhere);
  const std::string state = field(line, "State");
  if (!state.empty() && state != "UP") {
    problems.push_back({"the partition " + name + ", which is " + state, "a partition that is up",
                        "wait until it is up" + elsewhere});
  }
  return problems;
}

}  // namespace hpcboot::queue
