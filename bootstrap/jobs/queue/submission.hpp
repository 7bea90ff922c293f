#pragma once

#include <string>
#include <vector>

#include "limits.hpp"
#include "queue.hpp"

// How a job script is handed to the scheduler of its site.
namespace hpcboot::queue {

struct Submission {
  std::string scheduler;  ///< of the site's profile
  std::string file;       ///< the script
  /// Names of variables that the job is to get, from a scheduler that hands on none by itself.
  std::vector<std::string> variables{};
  std::vector<std::string> environment{};  ///< names of all variables that are set here
};

/// The scheduler has no such command: none, a lab's.
bool can_submit(const std::string& scheduler);

struct Answer {
  bool is_ok = false;
  std::string id;    ///< of the job; empty for Kubernetes, and if it was not found in what was said
  std::string said;  ///< what the command printed besides
};

/// Submits it. @throws Error{backend_unavailable} if the command is not there
Answer submit(const Submission& submission, const RunCommand& run);

/// The number in what sbatch, qsub, bsub printed; empty if there is none.
std::string job_id_in(const std::string& scheduler, const std::string& said);

/// What is wrong with the job: by the limits of its partition or queue, and by the scheduler's own
/// trial (sbatch --test-only, qsub -w v).
/// @param said what the scheduler says of a job that fits, such as when it may start
/// @throws Error{backend_unavailable} if the scheduler does not answer
std::vector<LimitProblem> problems_of(const Submission& submission, const JobDemand& demand,
                                      const RunCommand& run, std::string& said);

}  // namespace hpcboot::queue
