#pragma once

#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"

// A Slurm job that resubmits itself as it was granted, if it cannot be requeued in place.
namespace hpcboot::run {

// "3" for "12_3", a task of an array; empty: not a task.
std::string task_of(const std::string& id);

// The sbatch options for another job like `id` (a task of an array alone): its resources, limits
// and files according to squeue and the job's variables. Options that squeue does not report, such
// as --signal and --mail-user, come only from the script.
// @throws Error{backend_unavailable}
std::vector<std::string> sbatch_options(const Surroundings& s, const std::string& id);

// Could a job with these options ever run with these hosts excluded? Empty: yes; otherwise why not,
// for users.
std::string reason_against_exclusion(const Surroundings& s, std::vector<std::string> options,
                                     const std::string& excluded);

// Submits the script of job `id` with its arguments and variables. @return the number of the new
// job. @throws Error{backend_unavailable}
std::string submit_again(const Surroundings& s, const std::string& id,
                         const std::vector<std::string>& options);

}  // namespace hpcboot::run
