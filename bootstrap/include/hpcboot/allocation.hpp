#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// What a scheduler allocated to a job: resources, not ranks.
struct Allocation {
  std::string scheduler;           ///< slurm, pbs, lsf, sge, flux, cobalt; empty for a hostfile
  std::string job_id;              ///< as the scheduler writes it: "123", "45[6].server"
  std::vector<std::string> hosts;  ///< each host once, in the scheduler's order; empty if unknown
  std::vector<int> slots;  ///< processes requested per host, parallel to hosts; empty if unknown
  std::optional<int> num_tasks;  ///< processes requested in total
  std::string hosts_variable;    ///< the variable that gave the hosts
  std::string job_variable;      ///< the variable that gave the job id
  std::string identity;         ///< job, array task, restart: differs between any two runs of a job
  std::string unreadable_file;  ///< the file with the hosts, if it cannot be read
  std::string unreadable_reason;  ///< the reason: "No such file or directory"
};

/// How an allocation may read files.
struct AllocationOptions {
  /// Read this instead of the file that the environment names (`--nodefile`). It may also be a
  /// pipe; the file that the environment names must be a regular file, so that reading it cannot
  /// hang.
  std::optional<std::string> nodefile;
  /// False for an environment captured elsewhere: the files that it names are on another machine.
  bool read_files = true;
};

/// The allocation that the environment describes, independent of the launcher; nullopt outside a
/// job. PBS_JOBID together with SLURM_JOB_ID and without PBS_ENVIRONMENT means Slurm (its spank_pbs
/// plugin sets PBS_JOBID). If the nodefile cannot be read, `hosts` is empty. Outside a job,
/// options.nodefile is read as a hostfile, and `scheduler` and `job_id` are empty.
/// @throws Error{malformed_value, malformed_hostlist, malformed_file, unreadable_file (only for
///         options.nodefile)}
std::optional<Allocation> read_allocation(const Env& env, const AllocationOptions& options = {});

/// The hosts of a PBS nodefile: one line per process slot; repeated hosts are not always adjacent.
struct Nodefile {
  std::vector<std::string> hosts;  ///< each host once, in order of first appearance
  std::vector<int> slots;          ///< lines per host, parallel to hosts
  std::vector<std::string> users;  ///< whom to log in as, parallel to hosts; empty: not given
};

/// @throws Error{malformed_file} with the line number, for a line that is not a valid host name.
Nodefile parse_nodefile(std::string_view text, std::string_view name);

/// Grid Engine's PE_HOSTFILE: "host slots queue processors" on each line.
/// @throws Error{malformed_file} naming the line.
Nodefile parse_pe_hostfile(std::string_view text, std::string_view name);

}  // namespace hpcboot
