#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/option.hpp"

namespace hpcboot::tool {

// The numbers of ranks in "8" or "1,2,4,8". @throws options::UsageError
std::vector<int> rank_counts(const std::string& text);

// --ranks, if it is given, of a single run. @throws options::UsageError
std::optional<int> rank_count_of(const options::po::variables_map& values);

}  // namespace hpcboot::tool
