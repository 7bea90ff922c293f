#pragma once

#include <string>
#include <vector>

#include "verbs.hpp"

namespace hpcboot::tool {

// `hpcboot run --study`: runs hpcboot run again and again, one run after the other, or submits a
// job for each. A signal reaches the run that is under way, and ends the study unless it is a
// warning.
// @param options of `run`, without those of the study, --ranks and --output-dir
// @return the exit code of the first run that failed, else 0
// @throws options::UsageError
int run_study(const Call& call, const std::vector<std::string>& options);

}  // namespace hpcboot::tool
