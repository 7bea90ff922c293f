#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "record/runtime_table.hpp"

namespace hpcboot::record {

/// The runtime table as an element of a page: figures as measured in `data-value`, for sorting.
/// @param target the id of an element with more about a run, which its name links to; may be empty
Encoded html_table(const std::vector<RuntimeRow>& rows,
                   const std::function<std::string(const RuntimeRow& row)>& target = {});

}  // namespace hpcboot::record
