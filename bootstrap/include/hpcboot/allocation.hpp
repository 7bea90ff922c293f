#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// What a scheduler gave to a job: the resources, not the ranks.
struct Allocation {
  std::string scheduler;  ///< slurm, pbs, lsf, sge, flux, cobalt; empty where a hostfile stands in
  std::string job_id;     ///< as the scheduler writes it: "123", "45[6].server"
  std::vector<std::string>
      hosts;               ///< each host once, in the scheduler's order; empty where unknown
  std::vector<int> slots;  ///< processes asked for per host, beside hosts; empty where unknown
  std::optional<int> num_tasks;   ///< processes asked for in all
  std::string hosts_variable;     ///< the variable that gave the hosts
  std::string job_variable;       ///< the variable that gave the job id
  std::string identity;           ///< job, array, restart: distinct for any two runs of a job
  std::string unreadable_file;    ///< a file that would have given the hosts but cannot be read
  std::string unreadable_reason;  ///< why not: "No such file or directory"
};

/// How an allocation may read files.
struct AllocationOptions {
  /// Read this in place of the file that the environment names (`--nodefile`). It may be a pipe,
  /// too; what the environment names must be a regular file, so that nobody waits for ever.
  std::optional<std::string> nodefile;
  /// False for a foreign environment: the files that it names are on another machine.
  bool read_files = true;
};

/// The allocation that the environment shows, whatever launched this process; nullopt outside a
/// job. PBS_JOBID beside SLURM_JOB_ID and without PBS_ENVIRONMENT is Slurm (its spank_pbs plugin
/// sets it). A nodefile that cannot be read leaves `hosts` empty. Outside a job options.nodefile is
/// read as a hostfile, and `scheduler` and `job_id` stay empty.
/// @throws Error{malformed_value, malformed_hostlist, malformed_file, unreadable_file (only for
///         options.nodefile)}
std::optional<Allocation> read_allocation(const Env& env, const AllocationOptions& options = {});

/// Slurm: SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE, SLURM_NTASKS,
/// SLURM_ARRAY_JOB_ID, SLURM_ARRAY_TASK_ID, SLURM_RESTART_COUNT, SLURM_HET_SIZE and the lists of
/// its components. Set by slurmctld and slurmd.
std::optional<Allocation> read_slurm_allocation(const Env& env);

/// PBS Pro and OpenPBS: PBS_JOBID, PBS_NODEFILE, PBS_ARRAY_INDEX; Torque: PBS_ARRAYID,
/// PBS_NUM_NODES, PBS_NUM_PPN. Set by pbs_mom.
std::optional<Allocation> read_pbs_allocation(const Env& env, const AllocationOptions& options);

/// LSF: LSB_JOBID, LSB_JOBINDEX, LSB_RESTART, LSB_MCPU_HOSTS, LSB_HOSTS, LSB_DJOB_HOSTFILE. The
/// launch node of a machine with jsrun is left out. Set by sbatchd.
std::optional<Allocation> read_lsf_allocation(const Env& env, const AllocationOptions& options);

/// Grid Engine: JOB_ID, SGE_TASK_ID, RESTARTED, PE_HOSTFILE, NSLOTS. Set by sge_execd.
std::optional<Allocation> read_sge_allocation(const Env& env, const AllocationOptions& options);

/// Cobalt: COBALT_JOBID, COBALT_NODEFILE.
std::optional<Allocation> read_cobalt_allocation(const Env& env, const AllocationOptions& options);

/// Flux: FLUX_JOB_ID, FLUX_ENCLOSING_ID. No hosts: they are not in its environment.
std::optional<Allocation> read_flux_allocation(const Env& env, const AllocationOptions& options);

/// Host names of a PBS nodefile: one line for each process slot, hosts repeated, not always
/// adjacent.
struct Nodefile {
  std::vector<std::string> hosts;  ///< each host once, in order of first appearance
  std::vector<int> slots;          ///< lines per host, beside hosts
};

/// @throws Error{malformed_file} for a line that cannot be a host name, with its number.
Nodefile parse_nodefile(std::string_view text, std::string_view name);

/// Grid Engine's PE_HOSTFILE: "host slots queue processors" on each line.
/// @throws Error{malformed_file} naming the line.
Nodefile parse_pe_hostfile(std::string_view text, std::string_view name);

}  // namespace hpcboot
