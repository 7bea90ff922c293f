#pragma once

#include <charconv>
#include <cmath>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace hpcboot::record {

/// The rows of a CSV file (RFC 4180) by the names of its columns. Values have no line breaks:
/// csv_field() makes them visible.
class CsvReader {
 public:
  /// Reads the header.
  explicit CsvReader(std::istream& in);

  bool has(const std::string& column) const { return places_.count(column) != 0; }

  /// Goes to the next row that has a field for each column; lines that are cut short or too long
  /// are left out, and so is the rest of a file that has 64 MiB of the latter.
  /// @return whether there is one
  bool next();

  /// A field of this row; empty if there is no such column.
  std::string text(const std::string& column) const;
  /// Nothing if the field is no number, or one that is not finite.
  template <typename Number>
  std::optional<Number> number(const std::string& column) const;

 private:
  std::istream& in_;
  std::map<std::string, std::size_t> places_;
  std::size_t columns_ = 0;
  std::streamsize skipped_ = 0;
  std::string line_;
  std::vector<std::string> fields_;
};

/// The header of a CSV file and its last rows, as far as they fit in `bytes`; empty if the file
/// cannot be read, or is no regular file.
std::string csv_tail(const std::filesystem::path& file, std::size_t bytes);

template <typename Number>
std::optional<Number> CsvReader::number(const std::string& column) const {
  const std::string field = text(column);
  Number value = 0;
  const char* const end = field.data() + field.size();
  const auto [parsed_to, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

}  // namespace hpcboot::record
