#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hpcboot/encode.hpp"

// The only place where the project parses and writes JSON.
namespace hpcboot {

/// JSON whose objects keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// Limits for a text, which may come from an untrusted source.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20U;  ///< a run.json of 100,000 ranks has 60 MB
  std::size_t depth = 64;                      ///< nested arrays and objects
  std::size_t values = 20'000'000;             ///< in total; each takes at least 16 bytes
};

/// Why a text is rejected: "is nested more than 64 levels deep".
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value that `text` contains. Rejects what is not JSON (RFC 8259), and also a text beyond the
/// limits, a duplicate key in an object, and a number beyond the range of a double.
/// @throws JsonError
Json parse_json(std::string_view text, const JsonLimits& limits = {});

/// Reads a whole file. @throws Error{unreadable_file}, also if it is not a regular file;
/// Error{malformed_file} naming file and reason
Json read_json_file(const std::filesystem::path& file, const JsonLimits& limits = {});

/// `value` as text that is safe for a terminal: control characters and characters that reorder text
/// are escaped (\u009b), a byte that is not UTF-8 becomes U+FFFD. @param indent spaces per level;
/// -1 for one line
Encoded json_text(const Json& value, int indent = -1);

}  // namespace hpcboot
