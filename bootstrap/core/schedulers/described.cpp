#include "core/launchers/description.hpp"
#include "read_file.hpp"

// Scheduler::read() for a scheduler described by data.
namespace hpcboot {

std::optional<Allocation> read_described(const Scheduler& scheduler, const Env& env,
                                         const AllocationOptions& options) {
  const JobDescription& described = *scheduler.description;
  const auto id = env.text(described.id);
  if (!id) return std::nullopt;
  Allocation job;
  job.scheduler = scheduler.name;
  job.job_id = job.identity = *id;
  job.job_variable = described.id;
  for (const std::string_view variable : described.distinct) {
    if (const auto value = env.text(variable)) job.identity.append("/").append(*value);
  }
  const std::string_view list = described.hosts.variable;
  const auto hosts = options.nodefile || list.empty() ? std::nullopt : env.text(list);
  if (hosts) {
    job.hosts = unique_hosts(parse_hosts(*hosts, described.hosts));
    job.hosts_variable = list;
  } else {
    const std::string nodefile(described.nodefile);
    take_hosts_from_file(job, env, nodefile.c_str(), options, parse_nodefile);
  }
  // The lines of a file may be cores; only the scheduler's own variable counts processes.
  job.slots.clear();
  job.num_tasks.reset();
  if (!described.num_tasks.empty()) job.num_tasks = env.integer(described.num_tasks, 1);
  return job;
}

}  // namespace hpcboot
