#pragma once

#include <string>
#include <vector>

#include "limits.hpp"
#include "queue.hpp"

// Submits a job script to the scheduler of its site.
namespace hpcboot::queue {

struct Submission {
  std::string scheduler;  ///< from the site profile
  std::string file;       ///< the script
  /// Variables to pass to the job, if the scheduler passes none by default.
  std::vector<std::string> variables{};
  Env environment{};  ///< of this process: some of its variables override the script
};

/// False for the scheduler "none", as in a lab.
bool can_submit(const std::string& scheduler);

struct Answer {
  bool is_ok = false;
  std::string id;    ///< of the job; empty for Kubernetes, and if the output contains no id
  std::string said;  ///< the rest of the command's output
};

/// Submits it. @throws Error{backend_unavailable} if the command does not exist
Answer submit(const Submission& submission, const RunCommand& run);

/// The job id in the output of sbatch, qsub, bsub; empty if there is none.
std::string job_id_in(const std::string& scheduler, const std::string& said);

/// Checks the job against the limits of its partition or queue, and with the scheduler's own test
/// (sbatch --test-only, qsub -w v).
/// @param said set to the scheduler's answer if the job fits, such as its expected start
/// @throws Error{backend_unavailable} if the scheduler does not answer
std::vector<LimitProblem> problems_of(const Submission& submission, const JobDemand& demand,
                                      const RunCommand& run, std::string& said);

}  // namespace hpcboot::queue
