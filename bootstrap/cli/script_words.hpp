#pragma once

#include <set>
#include <string>
#include <vector>

#include "options/option.hpp"

namespace hpcboot::tool {

// The options that were given, each word of a shell's, in the order of `groups`; none that has its
// default. @param left_out names of options that are left out
std::string option_words(const options::po::variables_map& values,
                         const std::vector<options::Group>& groups,
                         const std::set<std::string>& left_out);

}  // namespace hpcboot::tool
