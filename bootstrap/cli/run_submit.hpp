#pragma once

#include <string>
#include <vector>

#include "options/option.hpp"

// `hpcboot run --submit`: the same command line, from a login node.
namespace hpcboot::tool {

// The options that belong to --submit.
options::Group submit_options();

// @throws UsageError if one of them is given without --submit
void require_no_submit_options(const options::po::variables_map& values);

// Makes a job script from the options of `run`, checks it and submits it. @return the exit code
int submit_run(const options::po::variables_map& values,
               const std::vector<options::Group>& run_options,
               const std::vector<std::string>& command);

}  // namespace hpcboot::tool
