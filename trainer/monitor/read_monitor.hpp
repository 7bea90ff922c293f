#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "monitor/monitor_row.hpp"

namespace hpcboot::monitor {

/// The rows of a monitor.csv. Columns are found by their names; unknown ones are ignored, and so is
/// a last line that is cut short. Rows whose seconds are not from 0 to 1e9 are left out, and so are
/// values beyond 1e18.
/// @throws Error{unreadable_file, malformed_file}
std::vector<MonitorRow> read_monitor(const std::filesystem::path& file);

/// The same from a stream. @param name of the file, for errors
std::vector<MonitorRow> read_monitor(std::istream& in, const std::string& name);

}  // namespace hpcboot::monitor
