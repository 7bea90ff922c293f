#pragma once

#include <filesystem>
#include <string>

namespace hpcboot {

// Of a file in /proc or /sys, without its end; empty if the file cannot be read.
std::string first_line(const std::filesystem::path& file);

}  // namespace hpcboot
