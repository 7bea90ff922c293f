#include "hpcboot/allocation.hpp"

#include "core/schedulers/read_file.hpp"
#include "hpcboot/hostfile.hpp"

namespace hpcboot {
namespace {

// No job, but the user gives the hosts: mpirun --hostfile over ssh.
std::optional<Allocation> read_given_hostfile(const Env& env, const AllocationOptions& options) {
  if (!options.nodefile) return std::nullopt;
  Allocation hosts;
  take_hosts_from_file(hosts, env, "", options, parse_hostfile);
  return hosts;
}

}  // namespace

std::optional<Allocation> read_allocation(const Env& env, const AllocationOptions& options) {
  // Flux may run inside a job of any other, never the other way round.
  if (auto job = read_flux_allocation(env, options)) return job;
  // Slurm's spank_pbs plugin sets PBS_JOBID in Slurm jobs; PBS_ENVIRONMENT is set by PBS alone.
  const bool is_pbs =
      env.has("PBS_JOBID") && (env.has("PBS_ENVIRONMENT") || !env.has("SLURM_JOB_ID"));
  if (is_pbs) return read_pbs_allocation(env, options);
  if (auto job = read_slurm_allocation(env)) return job;
  if (auto job = read_lsf_allocation(env, options)) return job;
  if (auto job = read_cobalt_allocation(env, options)) return job;
  if (auto job = read_sge_allocation(env, options)) return job;
  return read_given_hostfile(env, options);
}

}  // namespace hpcboot
