#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "record/append_file.hpp"

namespace hpcboot::record {

/// A table that grows during a run: a header line, and rows, buffered as in AppendFile.
class CsvFile {
 public:
  /// Whether a row of an earlier start of the run is kept.
  using Keeps = std::function<bool(std::string_view row)>;

  /// Starts the file, or continues an existing one (a resumed run): a last line that a crash cut
  /// short is dropped, and so are all rows from the first one on that is not kept.
  /// @param header a line
  /// @throws Error{unwritable_output}; Error{malformed_file} if the file has another header.
  CsvFile(const std::filesystem::path& path, std::string_view header, const Keeps& keeps);

  /// Checks that a run can continue this file: it is missing or empty, or starts with the header,
  /// or is a part of it.
  /// @throws Error{malformed_file} if it cannot
  static void require_usable(const std::filesystem::path& path, std::string_view header);

  /// What is kept of a file: all before the first row that is not kept, not whole or too long.
  struct Kept {
    std::size_t bytes = 0;
    std::string last_row;  ///< empty if there is none
  };
  /// @throws as require_usable()
  static Kept kept(const std::filesystem::path& path, std::string_view header, const Keeps& keeps);

  /// @param row with its newline. @throws Error{unwritable_output}
  void append(std::string_view row) { file_.append(row); }
  /// @throws Error{unwritable_output}
  void flush() { file_.flush(); }

 private:
  AppendFile file_;
};

}  // namespace hpcboot::record
