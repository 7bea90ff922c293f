#include "core/schedulers/schedulers.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/hostfile.hpp"
#include "read_file.hpp"

// Flux sets FLUX_JOB_ID for each task of a job ("ƒD2e73NP", base 58), and for a batch script only
// FLUX_ENCLOSING_ID, the job that runs the script's own Flux instance: flux-environment(7). The
// environment does not list the hosts; `flux getattr hostlist` does.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"FLUX_JOB_ID", kCompanion, kUsed},
    {"FLUX_ENCLOSING_ID", kCompanion, kUsed},
    {"FLUX_JOB_ID_PATH", kCompanion, kUsed},
    {"FLUX_EXEC_PATH", kSetting},
    {"FLUX_*", kCompanion},
};

std::optional<Allocation> read(const Env& env, const AllocationOptions& options) {
  const char* variable = env.has("FLUX_JOB_ID") ? "FLUX_JOB_ID" : "FLUX_ENCLOSING_ID";
  const auto id = env.text(variable);
  if (!id) return std::nullopt;
  Allocation job;
  job.scheduler = "flux";
  job.job_id = job.identity = *id;
  job.job_variable = variable;
  // Each instance numbers its jobs from scratch.
  if (const auto path = env.text("FLUX_JOB_ID_PATH")) job.identity = *path;
  if (options.nodefile) take_hosts_from_file(job, env, "", options, parse_hostfile);
  return job;
}

}  // namespace

const Scheduler kFluxScheduler{
    "flux",
    "flux run",
    "https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man7/flux-environment.html",
    kVariables,
    read,
    nullptr,
    {},
    "FLUX_ENCLOSING_ID",
    "Flux"};

}  // namespace hpcboot
