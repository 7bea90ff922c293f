#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "jobs/job_script.hpp"
#include "options/option.hpp"

namespace hpcboot::tool {

// The script of a job that does what `run` is asked for: the resources of the job come from the
// options that say how many ranks there are, the others go to the `run` in the script.
// @throws UsageError for options that a job cannot have, and for numbers that do not go together
jobscripts::ScriptRequest submit_request(const options::po::variables_map& values,
                                         const jobscripts::SiteProfile& site,
                                         const std::vector<std::string>& command);

// Those of --env that have a name and no value. @throws UsageError if `env` has none such, or a
// value that the job would not get as it is. @param takes_qsub that hands them on
std::vector<std::string> variables_by_name(const options::po::variables_map& values, const Env& env,
                                           bool takes_qsub);

}  // namespace hpcboot::tool
