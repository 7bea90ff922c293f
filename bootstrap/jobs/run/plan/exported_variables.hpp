#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace hpcboot::run {

// Is this a name that a shell can set and a launcher's option can carry?
bool is_variable_name(const std::string& name);

// The variables that are copied to ranks on other hosts: all except those of a session or a host.
// Sorted; without `unset`.
std::vector<std::string> exported_variables(const Surroundings& s, Launcher launcher,
                                            const std::vector<std::string>& unset);

}  // namespace hpcboot::run
