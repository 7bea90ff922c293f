#pragma once

#include <string>
#include <string_view>

#include "description_text.hpp"

namespace hpcboot {

/// Reads a description of a launcher from TOML.
/// @param file its name, for messages
/// @throws Error{malformed_file} naming file, line and key, what is expected, and the nearest name
DescriptionText read_description(std::string_view toml, const std::string& file);

}  // namespace hpcboot
