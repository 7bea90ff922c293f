#pragma once

#include <string>
#include <vector>

#include "pbs_status.hpp"

namespace hpcboot::run {

// The options of qsub that ask for what the job has, as `qstat -f` shows it now: what qalter has
// changed counts. The job's variables and its script are not among them.
std::vector<std::string> pbs_options(const std::string& id, const PbsStatus& status);

}  // namespace hpcboot::run
