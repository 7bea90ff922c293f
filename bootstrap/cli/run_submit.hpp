#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

// `hpcboot run --submit`: the same line from a login node.
namespace hpcboot::tool {

// The options that --submit brings along.
boost::program_options::options_description submit_options();

// @throws UsageError if one of them is given without --submit
void require_no_submit_options(const boost::program_options::variables_map& values);

// Makes a job script of what `run` was asked for, checks and submits it. @return the exit code
int submit_run(const boost::program_options::variables_map& values,
               const boost::program_options::options_description& run_options,
               const std::vector<std::string>& command);

}  // namespace hpcboot::tool
