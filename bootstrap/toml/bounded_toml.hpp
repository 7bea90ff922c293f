#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>
#include <string_view>

// The only place where the project parses TOML.
namespace hpcboot {

/// The longest file, in bytes, and the longest dotted key, in parts: `a.b.c` has three. toml++
/// creates a table for each part and destroys them recursively.
constexpr std::size_t kLongestToml = std::size_t{1} << 20U;
constexpr std::size_t kMostKeyParts = 16;

/// Parses a text. @param file its name, for messages
/// @throws Error{malformed_file} naming file and line, for invalid TOML, for a text beyond the
/// limits, and for input on which toml++ 3.3 has undefined behaviour: non-ASCII characters outside
/// strings and comments, or after a backslash that joins lines, tables without a name, and values
/// that end unexpectedly
toml::table parse_toml(std::string_view text, const std::string& file);

/// Reads a whole file. @throws Error{unreadable_file}, also if it is not a regular file; and what
/// parse_toml() throws
toml::table read_toml_file(const std::filesystem::path& file);

}  // namespace hpcboot
