#pragma once

#include <set>
#include <string>
#include <vector>

#include "options/option.hpp"

namespace hpcboot::tool {

// The options that were given, as words, in the order of `groups`; options with their default value
// are omitted. @param left_out names of options to omit
std::vector<std::string> option_list(const options::po::variables_map& values,
                                     const std::vector<options::Group>& groups,
                                     const std::set<std::string>& left_out);

// The same for bash.
std::string option_words(const options::po::variables_map& values,
                         const std::vector<options::Group>& groups,
                         const std::set<std::string>& left_out);

}  // namespace hpcboot::tool
