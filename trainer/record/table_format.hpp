#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/encode.hpp"
#include "record/runtime_table.hpp"
#include "text/table.hpp"

namespace hpcboot::record {

enum class TableFormat {
  table,  ///< aligned columns for a terminal
  md,     ///< a Markdown table
  csv,    ///< RFC 4180 quoting, numbers as measured, nothing if unknown
  json,   ///< a list of objects, null if unknown
  html,   ///< a page of its own
};

/// The format of this name, if there is one.
std::optional<TableFormat> table_format(std::string_view name);

/// The names of all formats.
std::vector<std::string> table_formats();

/// The whole text, ending in a newline. table, md and html show rounded figures and "–" for an
/// unknown one.
/// @param look of the terminal that `table` goes to; on a narrow one, settings that are equal in
/// all runs are stated above the table, and the names of runs stand below their figures
Encoded format_rows(const std::vector<RuntimeRow>& rows, TableFormat format, const Look& look = {});

}  // namespace hpcboot::record
