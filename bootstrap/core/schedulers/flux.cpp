#include "hpcboot/allocation.hpp"
#include "hpcboot/hostfile.hpp"
#include "read_file.hpp"

// Flux sets FLUX_JOB_ID for each task of a job ("ƒD2e73NP", base 58), and for a batch script only
// FLUX_ENCLOSING_ID, the job that runs the script's own Flux instance: flux-environment(7). Hosts
// are not in the environment: `flux getattr hostlist`.
namespace hpcboot {

std::optional<Allocation> read_flux_allocation(const Env& env, const AllocationOptions& options) {
  const char* variable = env.has("FLUX_JOB_ID") ? "FLUX_JOB_ID" : "FLUX_ENCLOSING_ID";
  const auto id = env.text(variable);
  if (!id) return std::nullopt;
  Allocation job;
  job.scheduler = "flux";
  job.job_id = job.identity = *id;
  job.job_variable = variable;
  // Ids are counted by each instance anew.
  if (const auto path = env.text("FLUX_JOB_ID_PATH")) job.identity = *path;
  if (options.nodefile) take_hosts_from_file(job, env, "", options, parse_hostfile);
  return job;
}

}  // namespace hpcboot
