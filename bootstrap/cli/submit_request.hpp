#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "jobs/job_script.hpp"
#include "options/option.hpp"

namespace hpcboot::tool {

// A job that does what `run` was asked to do: the options for ranks and nodes become the job's
// resources, the others are passed to the `run` in the script.
// @throws UsageError for options that a job cannot have, and for inconsistent numbers
jobscripts::ScriptRequest submit_request(const options::po::variables_map& values,
                                         const jobscripts::SiteProfile& site,
                                         const std::vector<std::string>& command);

// The variables of --env that are given by name only. @throws UsageError if `env` lacks one, or has
// a value that the job would not receive unchanged. @param takes_qsub whether qsub passes them on
std::vector<std::string> variables_by_name(const options::po::variables_map& values, const Env& env,
                                           bool takes_qsub);

}  // namespace hpcboot::tool
