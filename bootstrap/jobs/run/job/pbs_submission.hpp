#pragma once

#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"
#include "pbs_status.hpp"

namespace hpcboot::run {

// What submits a job of PBS or Torque once more.
struct PbsSubmission {
  std::vector<std::string> words;  // qsub and its options; no value of a variable is among them
  std::string shell_script;        // for sh: sets the variables, then executes `words`
  std::string note;                // what could not be had, for people; empty: nothing
};

// @param id of the job that `status` is of
// @throws Error{backend_unavailable} for one that cannot be submitted again
PbsSubmission pbs_submission(const Surroundings& s, const std::string& id, const PbsStatus& status);

}  // namespace hpcboot::run
