#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace hpcboot::run {

// Is it a name that a shell can set, and a launcher's option can carry?
bool is_variable_name(const std::string& name);

// The variables that ranks on other hosts get as this process has them: all but those of a session
// or a host. Sorted; none of `unset`.
std::vector<std::string> exported_variables(const Surroundings& s, Launcher launcher,
                                            const std::vector<std::string>& unset);

}  // namespace hpcboot::run
