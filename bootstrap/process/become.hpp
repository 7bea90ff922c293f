#pragma once

#include <map>
#include <string>
#include <vector>

namespace hpcboot {

// Replaces this process with a program. @return only on failure: errno
// @param variables the whole environment of the program
// @param program a path, or a name to look for in PATH
int become(const std::map<std::string, std::string>& variables,
           const std::vector<std::string>& command, const char* program);

}  // namespace hpcboot
