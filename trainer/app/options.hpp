#pragma once

#include <boost/program_options.hpp>

#include "app/verbs.hpp"

namespace hpcboot::app {

/// Parses the command line into `values`, without abbreviations.
/// @throws UsageError
void parse_command_line(const Arguments& arguments,
                        const boost::program_options::options_description& options,
                        const boost::program_options::positional_options_description& positional,
                        boost::program_options::variables_map& values);

/// "a|b|c"
std::string joined(const std::vector<std::string>& names);

/// @throws UsageError naming the option and what it takes
void require_one_of(const char* option, const std::string& value,
                    const std::vector<std::string>& known);

}  // namespace hpcboot::app
