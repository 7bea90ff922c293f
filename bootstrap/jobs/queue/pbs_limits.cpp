#include <algorithm>
#include <map>

#include "jobs/probe/probe_text.hpp"
#include "jobs/walltime.hpp"
#include "limits.hpp"

// `qstat -Qf`, `qstat -Bf` and `pbsnodes -a` of PBS and Torque: pbs_queue_attributes(7),
// pbs_server_attributes(7), pbs_node_attributes(7). A job that fits no host waits forever.
namespace hpcboot::queue {
namespace {

using jobscripts::value_of;

// The limits of a queue or the server for one resource.
class Limits {
 public:
  Limits(const std::string& limits, std::string source, std::string remedy,
         std::vector<LimitProblem>& problems)
      : limits_(limits),
        source_(std::move(source)),
        remedy_(std::move(remedy)),
        problems_(problems) {}

  void check(const std::string& resource, const std::string& what, long asked) const {
    const std::string most = value_of(limits_, "resources_max." + resource);
    if (!most.empty())
      require_at_most(problems_, what, asked, number(resource, most), source_, remedy_);
    const std::string least = value_of(limits_, "resources_min." + resource);
    if (!least.empty() && asked < number(resource, least)) {
      problems_.push_back(
          {std::to_string(asked) + " " + what,
           "at least " + std::to_string(number(resource, least)) + " (" + source_ + ")", remedy_});
    }
  }

  void check_walltime(int asked) const {
    const auto most = jobscripts::seconds_of(value_of(limits_, "resources_max.walltime"));
    const auto least = jobscripts::seconds_of(value_of(limits_, "resources_min.walltime"));
    const std::string found = "a walltime of " + jobscripts::time_of(asked);
    if (most && asked > *most) {
      problems_.push_back({found, "at most " + jobscripts::time_of(*most) + " (" + source_ + ")",
                           "use --time " + jobscripts::time_of(*most) + ", or " + remedy_});
    } else if (least && asked < *least) {
      problems_.push_back({found, "at least " + jobscripts::time_of(*least) + " (" + source_ + ")",
                           "use --time " + jobscripts::time_of(*least) + ", or " + remedy_});
    }
  }

 private:
  static long number(const std::string& resource, const std::string& text) {
    return resource == "mem" ? jobscripts::gibibytes(text, 'b') : jobscripts::leading_number(text);
  }

  const std::string& limits_;
  std::string source_;
  std::string remedy_;
  std::vector<LimitProblem>& problems_;
};

void check_limits(const std::string& of, const std::string& source, const std::string& remedy,
                  const JobDemand& job, std::vector<LimitProblem>& problems) {
  const Limits limits(of, source, remedy, problems);
  const jobscripts::JobShape& shape = job.shape;
  limits.check_walltime(shape.seconds);
  limits.check("nodect", "nodes", shape.nodes);
  limits.check("ncpus", "cores", static_cast<long>(shape.nodes) * shape.cores);
  limits.check("ngpus", "GPUs", static_cast<long>(shape.nodes) * shape.gpus);
  if (shape.memory_gb > 0)
    limits.check("mem", "GiB of memory", static_cast<long>(shape.nodes) * shape.memory_gb);
}

// A routing queue passes its jobs to the first destination queue that accepts them.
std::vector<LimitProblem> queue_problems(const std::map<std::string, std::string>& queues,
                                         const std::string& name, const JobDemand& job,
                                         int depth = 0) {
  std::vector<LimitProblem> problems;
  const auto found = queues.find(name);
  std::string names;
  for (const auto& [other, status] : queues) names += (names.empty() ? "" : ", ") + other;
  if (found == queues.end()) {
    if (!queues.empty())
      problems.push_back({"the queue " + name, "one of " + names, "correct " + job.chosen_by});
    return problems;
  }
  const std::string& queue = found->second;
  const std::string remedy = "choose another queue with " + job.chosen_by + " (" + names + ")";
  if (value_of(queue, "enabled") == "False") {
    problems.push_back(
        {"the queue " + name + ", which accepts no jobs", "an enabled queue", remedy});
  }
  check_limits(queue, "qstat -Qf " + name, remedy, job, problems);
  constexpr int kDeepest = 4;  // routing queues may form a cycle
  if (!problems.empty() || depth == kDeepest) return problems;
  for (const std::string& next : jobscripts::split(value_of(queue, "route_destinations"), ',')) {
    const std::string plain = next.substr(0, next.find('@'));
    if (plain.empty() || queues.count(plain) == 0) continue;
    const auto there = queue_problems(queues, plain, job, depth + 1);
    if (there.empty()) return {};
    if (problems.empty()) problems = there;
  }
  return problems;
}

// The amount of a resource on a host, from PBS, or from np and gpus of Torque.
int has(const std::string& host, const char* resource, const char* in_torque) {
  const std::string text = value_of(host, std::string("resources_available.") + resource);
  return jobscripts::leading_number(text.empty() ? value_of(host, in_torque) : text);
}

void check_hosts(const JobDemand& job, const std::string& nodes,
                 std::vector<LimitProblem>& problems) {
  const auto hosts = jobscripts::blocks_of(nodes);
  int fitting = 0;
  int most_cores = 0;
  int most_gpus = 0;
  for (const auto& [name, host] : hosts) {
    const int cores = has(host, "ncpus", "np");
    const int gpus = has(host, "ngpus", "gpus");
    const int memory = jobscripts::gibibytes(value_of(host, "resources_available.mem"), 'b');
    most_cores = std::max(most_cores, cores);
    most_gpus = std::max(most_gpus, gpus);
    if (cores >= job.shape.cores && gpus >= job.shape.gpus &&
        (memory == 0 || memory >= job.shape.memory_gb))
      ++fitting;
  }
  if (hosts.empty() || most_cores == 0 || fitting >= job.shape.nodes) return;
  problems.push_back(
      {std::to_string(job.shape.nodes) + " nodes with " + std::to_string(job.shape.cores) +
           " cores, " + std::to_string(job.shape.gpus) + " GPUs and " +
           std::to_string(job.shape.memory_gb) + " GiB of memory each",
       "pbsnodes -a shows " + std::to_string(fitting) + " such hosts; the largest have " +
           std::to_string(most_cores) + " cores and " + std::to_string(most_gpus) + " GPUs",
       "correct --nodes and --gpus-per-node, or node.cores and node.memory_gb of the site"});
}

}  // namespace

std::vector<LimitProblem> pbs_limit_problems(const JobDemand& job, const jobscripts::Ask& ask) {
  std::vector<LimitProblem> problems;
  const auto servers = jobscripts::blocks_of(ask({"qstat", "-Bf"}).value_or(""));
  std::string name = job.queue;
  for (const auto& [server, status] : servers) {
    if (name.empty()) name = value_of(status, "default_queue");
    check_limits(status, "qstat -Bf", "ask the site", job, problems);
  }
  const auto queues = jobscripts::blocks_of(ask({"qstat", "-Qf"}).value_or(""));
  if (!name.empty()) {
    for (LimitProblem& problem : queue_problems(queues, name, job))
      problems.push_back(std::move(problem));
  }
  check_hosts(job, ask({"pbsnodes", "-a"}).value_or(""), problems);
  return problems;
}

}  // namespace hpcboot::queue
