#include "core/schedulers/schedulers.hpp"
#include "host_lines.hpp"
#include "hpcboot/allocation.hpp"
#include "read_file.hpp"

// pbs_mom sets PBS_JOBID ("123.server", in arrays "123[4].server"), PBS_NODEFILE and, in arrays,
// PBS_ARRAY_INDEX. PBS does not set ranks: PBS_NODENUM numbers hosts, PBS_TASKNUM spawned tasks.
// The nodefile exists on the first host only; elsewhere the variable names a missing file. Torque
// adds PBS_NUM_NODES, PBS_NUM_PPN, PBS_NP, and in arrays PBS_ARRAYID.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PBS_JOBID", kCompanion, kUsed},
    {"PBS_ENVIRONMENT", kCompanion, kUsed},
    {"PBS_NODEFILE", kCompanion, kUsed},
    {"PBS_ARRAYID", kCompanion, kUsed},
    {"PBS_NUM_NODES", kSize, kUsed},
    {"PBS_NUM_PPN", kSize, kUsed},
    {"PBS_ARRAY_INDEX", kCompanion},
    {"PBS_TASKNUM", kCompanion},
    {"PBS_JOBCOOKIE", kSecret},
    {"PBS_O_*", kSubmitter},
    {"PBS_CONF_FILE", kSetting},
    {"PBS_EXEC", kSetting},
    {"PBS_HOME", kSetting},
    {"PBS_SERVER", kSetting},
    {"PBS_*", kCompanion},
    {"ENVIRONMENT", kCompanion},
    {"NCPUS", kSetting},
};

}  // namespace

Nodefile parse_nodefile(std::string_view text, std::string_view name) {
  HostCounter counter;
  for_each_line(text, [&](std::string_view line, int number) {
    if (!is_host(line) || !counter.add(line, 1)) {
      fail_line(line, number, name, "one host name per line",
                "pass an unmodified PBS nodefile, or a copy of it");
    }
  });
  return counter.take();
}

namespace {

std::optional<Allocation> read(const Env& env, const AllocationOptions& options) {
  Allocation job;
  job.scheduler = "pbs";
  const auto id = env.text("PBS_JOBID");
  if (!id) return std::nullopt;
  // Slurm's spank_pbs plugin sets PBS_JOBID in Slurm jobs; only PBS sets PBS_ENVIRONMENT.
  if (!env.has("PBS_ENVIRONMENT") && env.has("SLURM_JOB_ID")) return std::nullopt;
  job.job_id = *id;
  job.job_variable = "PBS_JOBID";
  take_hosts_from_file(job, env, "PBS_NODEFILE", options, parse_nodefile);
  if (!job.num_tasks) {
    const auto nodes = env.integer("PBS_NUM_NODES", 1);
    const auto per_node = env.integer("PBS_NUM_PPN", 1);
    int product = 0;
    if (nodes && per_node && !__builtin_mul_overflow(*nodes, *per_node, &product))
      job.num_tasks = product;
  }
  // PBS Pro's job id already contains the array index; Torque's may not.
  job.identity = job.job_id;
  if (const auto index = env.text("PBS_ARRAYID")) job.identity.append("/").append(*index);
  return job;
}

}  // namespace

const Scheduler kPbsScheduler{"pbs",      "mpiexec",   "OpenPBS, src/resmom/start_exec.c; qsub(1B)",
                              kVariables, read,        nullptr,
                              {},         "PBS_JOBID", "PBS"};

}  // namespace hpcboot
