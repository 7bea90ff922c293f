#include "plots/monitor_rows.hpp"

#include "monitor/read_monitor.hpp"
#include "plots/plots.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::plots {

const RunData& only_run(const std::vector<RunData>& runs) {
  if (runs.size() == 1) return runs.front();
  throw NothingToPlot(std::to_string(runs.size()) + " runs are given; name one run folder");
}

std::vector<monitor::MonitorRow> rows_of(const RunData& run) {
  return monitor::read_monitor(record::RunFolder(run.folder).monitor_csv());
}

}  // namespace hpcboot::plots
