#pragma once

#include <string>
#include <vector>

#include "pbs_status.hpp"

namespace hpcboot::run {

// The qsub options that request what the job has, as `qstat -f` shows it now, including changes by
// qalter. They do not include the job's variables and its script.
std::vector<std::string> pbs_options(const std::string& id, const PbsStatus& status);

}  // namespace hpcboot::run
