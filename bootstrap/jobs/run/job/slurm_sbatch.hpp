#pragma once

#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"

// A job of Slurm that submits itself, as it was granted: for where it cannot be queued again in
// place.
namespace hpcboot::run {

// "3" of "12_3", a task of an array; empty: it is none.
std::string task_of(const std::string& id);

// The options of sbatch for another job like `id`, a task of an array alone: its resources, limits
// and files as squeue and the job's variables have them. What squeue does not know, such as
// --signal and --mail-user, is only what stands in the script.
// @throws Error{backend_unavailable}
std::vector<std::string> sbatch_options(const Surroundings& s, const std::string& id);

// Could a job with these options ever run without this host, which is not yet among those that it
// leaves out? Empty: yes; else why not, for people.
std::string reason_against_exclusion(const Surroundings& s, std::vector<std::string> options,
                                     const std::string& excluded);

// Submits the script of job `id` with its arguments and variables. @return the number of what is
// queued now. @throws Error{backend_unavailable}
std::string submit_again(const Surroundings& s, const std::string& id,
                         const std::vector<std::string>& options);

}  // namespace hpcboot::run
