#pragma once

#include <string>
#include <vector>

namespace hpcboot::jobscripts {

/// The name among `known` that `given` was most likely meant to be: the one with the fewest letters
/// to change. Empty where `known` is.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// The names with commas between them, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace hpcboot::jobscripts
