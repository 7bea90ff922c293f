#include "core/schedulers/schedulers.hpp"
#include "hpcboot/allocation.hpp"
#include "read_file.hpp"

// Cobalt sets COBALT_JOBID and COBALT_NODEFILE, a file that lists each host once. It does not set
// the number of tasks.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"COBALT_JOBID", kCompanion, kUsed},
    {"COBALT_NODEFILE", kCompanion, kUsed},
    {"COBALT_*", kCompanion},
};

std::optional<Allocation> read(const Env& env, const AllocationOptions& options) {
  const auto id = env.text("COBALT_JOBID");
  if (!id) return std::nullopt;
  Allocation job;
  job.scheduler = "cobalt";
  job.job_id = job.identity = *id;
  job.job_variable = "COBALT_JOBID";
  take_hosts_from_file(job, env, "COBALT_NODEFILE", options, parse_nodefile);
  job.slots.clear();
  job.num_tasks.reset();
  return job;
}

}  // namespace

const Scheduler kCobaltScheduler{"cobalt", "mpiexec", "qsub(1) of Cobalt", kVariables, read,
                                 nullptr,  {},        "COBALT_JOBID",      "Cobalt"};

}  // namespace hpcboot
