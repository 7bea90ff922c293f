#pragma once

#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"
#include "pbs_status.hpp"

namespace hpcboot::run {

// How to submit a job of PBS or Torque again.
struct PbsSubmission {
  std::vector<std::string> words;  // qsub and its options, without values of variables
  std::string shell_script;        // for sh: sets the variables, then executes `words`
  std::string note;                // what could not be kept, for users; empty: nothing
};

// @param id of the job that `status` describes
// @throws Error{backend_unavailable} if it cannot be submitted again
PbsSubmission pbs_submission(const Surroundings& s, const std::string& id, const PbsStatus& status);

}  // namespace hpcboot::run
