#pragma once

#include <boost/program_options.hpp>
#include <set>
#include <string>

namespace hpcboot::tool {

// The options that were given, each word of a shell's, in the order of `options`; none that has its
// default. @param left_out names of options that are left out
std::string option_words(const boost::program_options::variables_map& values,
                         const boost::program_options::options_description& options,
                         const std::set<std::string>& left_out);

}  // namespace hpcboot::tool
