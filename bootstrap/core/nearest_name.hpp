#pragma once

#include <string>
#include <vector>

namespace hpcboot {

/// The name among `known` that `given` was most likely meant to be: the one with the smallest edit
/// distance. Empty if that distance is more than a third of the longer name's length.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// The remedy if `given` is not among `known`, which the error lists as expected.
std::string remedy_for_name(const std::string& given, const std::vector<std::string>& known);

/// The names separated by commas, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace hpcboot
