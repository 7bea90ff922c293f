#include <cstdint>
#include <limits>

#include "core/launchers/slurm_components.hpp"
#include "core/schedulers/schedulers.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"

// slurmctld and slurmd set for every process of a job: SLURM_JOB_ID, SLURM_JOB_NODELIST,
// SLURM_TASKS_PER_NODE, SLURM_NTASKS; for arrays SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID; after
// a requeue SLURM_RESTART_COUNT. The older names without _JOB are also set. In a heterogeneous job
// SLURM_HET_SIZE components have lists of their own, suffixed _HET_GROUP_0 … (srun alone:
// _PACK_GROUP_0 …); salloc sets only these.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"SLURM_JOB_ID", kCompanion, kUsed},
    {"SLURM_JOBID", kCompanion, kUsed},
    {"SLURM_JOB_NODELIST", kCompanion, kUsed},
    {"SLURM_NODELIST", kCompanion, kUsed},
    {"SLURM_TASKS_PER_NODE", kSize, kUsed},
    {"SLURM_NTASKS", kSize, kUsed},
    {"SLURM_ARRAY_JOB_ID", kCompanion, kUsed},
    {"SLURM_ARRAY_TASK_ID", kCompanion, kUsed},
    {"SLURM_RESTART_COUNT", kCompanion, kUsed},
    {"SLURM_HET_SIZE", kSize, kUsed},
    {"SLURM_JOB_COMMENT", kSecret},
    {"SLURM_CONF", kSetting},
    {"SLURM_ROOT", kSetting},
    {"SLURM_TIME_FORMAT", kSetting},
    {"SLURM_*", kCompanion},
    {"SLURMD_*", kCompanion},
    {"ENVIRONMENT", kCompanion},
};

// A 32-bit number; in a federation of clusters its upper bits name the cluster.
bool is_job_id(std::string_view text) {
  const auto number = parse_whole_number(text);
  return number && *number >= 0 && *number <= std::numeric_limits<std::uint32_t>::max();
}

const char* first_set(const Env& env, const char* name, const char* older_name) {
  return !env.has(name) && env.has(older_name) ? older_name : name;
}

std::optional<Allocation> read(const Env& env, const AllocationOptions&) {
  Allocation job;
  job.scheduler = "slurm";
  const char* id = first_set(env, "SLURM_JOB_ID", "SLURM_JOBID");
  if (!env.has(id)) return std::nullopt;
  job.job_id = *env.text(id);
  if (!is_job_id(job.job_id)) {
    throw Error(ErrorCode::malformed_value, std::string(id) + "='" + job.job_id.substr(0, 80) + "'",
                "a whole number from 0 to 4294967295", "unset " + std::string(id));
  }
  job.job_variable = id;

  const char* nodelist = first_set(env, "SLURM_JOB_NODELIST", "SLURM_NODELIST");
  if (auto components = slurm_components(env)) {
    job.hosts = std::move(components->hosts);
    job.slots = std::move(components->slots);
    job.hosts_variable = "SLURM_JOB_NODELIST of every component";
  } else if (const auto list = env.text(nodelist)) {
    job.hosts = hostlist::expand(*list);
    job.hosts_variable = nodelist;
    if (const auto counts = env.text("SLURM_TASKS_PER_NODE")) {
      // Inside a step it may be the step's, and then does not correspond to the job's hosts.
      std::vector<int> slots = hostlist::expand_counts(*counts, "SLURM_TASKS_PER_NODE");
      if (slots.size() == job.hosts.size()) job.slots = std::move(slots);
    }
  }
  job.num_tasks = env.integer("SLURM_NTASKS", 1);
  // A requeued job keeps its id; the tasks of an array share the array's.
  job.identity = job.job_id;
  for (const char* variable :
       {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT"}) {
    if (const auto value = env.text(variable)) job.identity.append("/").append(*value);
  }
  return job;
}

}  // namespace

const Scheduler kSlurmScheduler{
    "slurm",
    "srun",
    "https://slurm.schedmd.com/sbatch.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES",
    kVariables,
    read,
    nullptr,
    {},
    "SLURM_JOB_ID",
    "Slurm"};

}  // namespace hpcboot
