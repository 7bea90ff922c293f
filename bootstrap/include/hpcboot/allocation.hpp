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
