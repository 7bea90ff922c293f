#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

// Where a shell searches for a program: `name` itself if it contains a slash, else each folder of
// `path`, the value of PATH. An empty entry is the working folder. Empty if `name` is empty.
std::vector<std::string> paths_of_program(std::string_view path, const std::string& name);

// A regular file that this user may execute.
bool is_program(const std::string& path);

// The first of these paths that is a program; empty if none is.
std::string find_program(std::string_view path, const std::string& name);

}  // namespace hpcboot
