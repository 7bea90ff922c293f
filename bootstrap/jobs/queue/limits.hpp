#pragma once

#include <string>
#include <vector>

#include "jobs/job_shape.hpp"
#include "jobs/probe/probed_site.hpp"

// What a scheduler would take and never start: what a job asks for against what there is.
namespace hpcboot::queue {

struct LimitProblem {
  std::string found;
  std::string expected;
  std::string remedy;
};

/// What is asked of the scheduler by a job.
struct JobDemand {
  jobscripts::JobShape shape;
  std::string queue;  ///< partition or queue; empty: the site's own choice
};

/// Each empty if nothing is wrong, or if the scheduler does not say.
std::vector<LimitProblem> slurm_limit_problems(const JobDemand& job, const jobscripts::Ask& ask);
std::vector<LimitProblem> pbs_limit_problems(const JobDemand& job, const jobscripts::Ask& ask);

/// `what` at most `limit`: 0 for no limit. Adds a problem to `problems` if it is more.
void require_at_most(std::vector<LimitProblem>& problems, const std::string& what, long asked,
                     long limit, const std::string& source, const std::string& remedy);

}  // namespace hpcboot::queue
