#pragma once

#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "record/runtime_table.hpp"

namespace hpcboot::record {

/// A column of the runtime table: its key in csv and json, its title in the formats for people, and
/// a row's value for both.
struct RuntimeColumn {
  const char* key = nullptr;
  std::string title;        ///< empty if it is shown only as marks in another column
  bool is_number = false;   ///< aligned to the right
  bool is_setting = false;  ///< stated once if it is equal in all runs and the terminal is narrow
  Json (*value)(const RuntimeRow&) = nullptr;
  std::string (*shown)(const RuntimeRow&) = nullptr;
  /// Precedes the values of some rows, so that the digits stay aligned.
  const char* mark = nullptr;
  bool (*is_marked)(const RuntimeRow&) = nullptr;
  const char* footnote = nullptr;
};

const std::vector<RuntimeColumn>& runtime_columns();

/// Those of the formats for people, titled for what these runs train on.
std::vector<RuntimeColumn> shown_columns(const std::vector<RuntimeRow>& rows);

/// A value for people, with its mark.
std::string cell_text(const RuntimeColumn& column, const RuntimeRow& row);

/// One line for each mark that any row has.
std::vector<std::string> footnotes(const std::vector<RuntimeRow>& rows);

/// "12.3 s" below a minute, else "0:02:05", "1:02:03"; "–" if unknown.
std::string duration_text(const std::optional<double>& seconds);

}  // namespace hpcboot::record
