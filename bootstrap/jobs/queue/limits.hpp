#pragma once

#include <string>
#include <vector>

#include "jobs/job_shape.hpp"
#include "jobs/probe/probed_site.hpp"

// Finds jobs that a scheduler would accept but never start, by comparing requests with its limits.
namespace hpcboot::queue {

struct LimitProblem {
  std::string found;
  std::string expected;
  std::string remedy;
};

/// What a job requests from the scheduler.
struct JobDemand {
  jobscripts::JobShape shape;
  std::string queue;  ///< partition or queue; empty: the site's default
  /// What the user changes to choose another partition or queue.
  std::string chosen_by = "--set queue.name=…";
  std::string cluster{};  ///< of Slurm; empty: the one that scontrol asks by default
};

/// Empty if no limit is violated, or if the scheduler does not report its limits.
std::vector<LimitProblem> slurm_limit_problems(const JobDemand& job, const jobscripts::Ask& ask);
std::vector<LimitProblem> pbs_limit_problems(const JobDemand& job, const jobscripts::Ask& ask);

/// Adds a problem if `asked` is more than `limit`; a limit of 0 means none.
void require_at_most(std::vector<LimitProblem>& problems, const std::string& what, long asked,
                     long limit, const std::string& source, const std::string& remedy);

}  // namespace hpcboot::queue
