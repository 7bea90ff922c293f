#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "monitor/monitor_row.hpp"
#include "plots/run_data.hpp"

namespace hpcboot::plots {

/// The rows of a monitor.csv. Columns are found by their names; unknown ones are ignored, and so is
/// a last line that is cut short.
/// @throws Error{unreadable_file, malformed_file}
std::vector<monitor::MonitorRow> read_monitor(const std::filesystem::path& file);

/// The same from a stream. @param name of the file, for errors
std::vector<monitor::MonitorRow> read_monitor(std::istream& in, const std::string& name);

/// The only one of these runs. @throws NothingToPlot if there are more, or none
const RunData& only_run(const std::vector<RunData>& runs);

/// read_monitor() of a run.
std::vector<monitor::MonitorRow> rows_of(const RunData& run);

}  // namespace hpcboot::plots
