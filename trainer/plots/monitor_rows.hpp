#pragma once

#include <vector>

#include "monitor/monitor_row.hpp"
#include "plots/run_data.hpp"

namespace hpcboot::plots {

/// The only one of these runs. @throws NothingToPlot if there are more, or none
const RunData& only_run(const std::vector<RunData>& runs);

/// The rows of its monitor.csv. @throws Error{unreadable_file, malformed_file}
std::vector<monitor::MonitorRow> rows_of(const RunData& run);

}  // namespace hpcboot::plots
