#pragma once

#include <string>
#include <vector>

namespace hpcboot::tool {

// Names of this process's parent, its parent, and so on, as /proc/PID/comm has them: enough to see
// which launcher started it. Command lines are not read: they may hold secrets.
std::vector<std::string> ancestry_of_this_process();

}  // namespace hpcboot::tool
