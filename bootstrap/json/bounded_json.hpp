#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hpcboot/encode.hpp"

// The one place where the project parses and writes JSON.
namespace hpcboot {

/// JSON whose objects keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// What a text may be at most: whoever wrote it need not mean well.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20U;  ///< a run.json of 100,000 ranks has 60 MB
  std::size_t depth = 64;                      ///< arrays and objects within one another
  std::size_t values = 20'000'000;             ///< in all; each takes 16 bytes and more
};

/// Why a text is not taken: "nested more than 64 deep at byte 65".
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value that `text` holds. Not taken are, besides what is no JSON (RFC 8259): more than the
/// limits, a key that occurs twice in an object, a number beyond any double.
/// @throws JsonError
Json parse_json(std::string_view text, const JsonLimits& limits = {});

/// Reads a whole file. @throws Error{unreadable_file}, also where it is no regular file;
/// Error{malformed_file} naming file and reason
Json read_json_file(const std::filesystem::path& file, const JsonLimits& limits = {});

/// `value` as text, in ASCII where a terminal would not show a character as it is: control
/// characters and those that reorder text are escaped (\u009b), a byte that is not UTF-8 becomes
/// U+FFFD. @param indent spaces a level; -1 for one line
Encoded json_text(const Json& value, int indent = -1);

}  // namespace hpcboot
