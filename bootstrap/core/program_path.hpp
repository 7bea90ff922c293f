#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

// Where a shell looks for a program: at `name` itself if there is a slash in it, else in each
// folder of `path`, the value of PATH. An empty folder is the working folder. None for no name.
std::vector<std::string> paths_of_program(std::string_view path, const std::string& name);

// A regular file that this user may execute.
bool is_program(const std::string& path);

// The first of those paths that is a program; empty if there is none.
std::string find_program(std::string_view path, const std::string& name);

}  // namespace hpcboot
