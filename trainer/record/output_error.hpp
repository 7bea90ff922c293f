#pragma once

#include <filesystem>
#include <string_view>

#include "hpcboot/error.hpp"

namespace hpcboot::record {

/// The Error{unwritable_output} of a failed system call: names the path and the system's reason,
/// with the remedy for the usual ones (disk full, quota, permission, read-only, missing folder).
/// @param action what was tried, such as "write".
Error output_error(std::string_view action, const std::filesystem::path& path, int error_number);

}  // namespace hpcboot::record
