#pragma once

#include <string>
#include <vector>

namespace hpcboot {

/// The name among `known` that `given` was most likely meant to be: the one with the fewest letters
/// to change. Empty where that would be more than a third of the longer one's: they are nothing
/// alike.
std::string nearest_name(const std::string& given, const std::vector<std::string>& known);

/// What to do where `given` is none of `known`, which the error names as what is expected.
std::string remedy_for_name(const std::string& given, const std::vector<std::string>& known);

/// The names with commas between them, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace hpcboot
