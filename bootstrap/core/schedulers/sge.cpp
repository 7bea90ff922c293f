#include "core/schedulers/schedulers.hpp"
#include "host_lines.hpp"
#include "hpcboot/allocation.hpp"
#include "read_file.hpp"

// Grid Engine (SGE, UGE, OGE) sets JOB_ID, SGE_TASK_ID ("undefined" outside arrays), RESTARTED (1
// in a restarted job), NSLOTS, NHOSTS and, in a parallel environment, PE_HOSTFILE, a file on the
// first host with lines of "host slots queue processors": submit(1), sge_pe(5). JOB_ID alone is not
// specific to Grid Engine.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"JOB_ID", kCompanion, kUsed},
    {"SGE_TASK_ID", kCompanion, kUsed},
    {"PE_HOSTFILE", kCompanion, kUsed},
    {"SGE_O_WORKDIR", kCompanion, kUsed},
    {"RESTARTED", kCompanion, kUsed},
    {"NSLOTS", kSize, kUsed},
    {"NHOSTS", kSize},
    {"NQUEUES", kSize},
    {"PE", kCompanion},
    {"JOB_NAME", kCompanion},
    {"QUEUE", kCompanion},
    {"SGE_TASK_*", kCompanion},
    {"SGE_O_*", kSubmitter},
    {"SGE_JOB_SPOOL_DIR", kCompanion},
    {"SGE_*", kSetting},
};

}  // namespace

Nodefile parse_pe_hostfile(std::string_view text, std::string_view name) {
  HostCounter counter;
  for_each_line(text, [&](std::string_view line, int number) {
    const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view rest = trim(line.substr(space));
    const auto slots = parse_whole_number(rest.substr(0, rest.find_first_of(" \t")));
    if (!is_host(line.substr(0, space)) || !slots || *slots < 1 ||
        *slots > HostCounter::kMaxSlots ||
        !counter.add(line.substr(0, space), static_cast<int>(*slots))) {
      fail_line(line, number, name, "host, slots, queue and processors on each line",
                "pass Grid Engine's unmodified PE_HOSTFILE, or a copy of it");
    }
  });
  return counter.take();
}

namespace {

std::optional<Allocation> read(const Env& env, const AllocationOptions& options) {
  const auto id = env.text("JOB_ID");
  if (!id || !(env.has("SGE_TASK_ID") || env.has("PE_HOSTFILE") || env.has("SGE_O_WORKDIR")))
    return std::nullopt;
  Allocation job;
  job.scheduler = "sge";
  job.job_id = *id;
  job.job_variable = "JOB_ID";
  const auto task = env.text("SGE_TASK_ID");
  if (task && *task != "undefined")
    job.job_id += "." + std::to_string(*env.integer("SGE_TASK_ID", 1));
  job.identity = job.job_id;
  if (env.text("RESTARTED").value_or("0") != "0") job.identity += "/restarted";
  take_hosts_from_file(job, env, "PE_HOSTFILE", options, parse_pe_hostfile);
  if (!job.num_tasks) job.num_tasks = env.integer("NSLOTS", 1);
  return job;
}

}  // namespace

const Scheduler kSgeScheduler{"sge", "mpiexec", "submit(1), sge_pe(5)", kVariables, read, nullptr,
                              {},    "JOB_ID",  "Grid Engine"};

}  // namespace hpcboot
