#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "monitor/monitor_row.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_record.hpp"

namespace hpcboot::watch {

/// What the files of a run show, also on another host that shares them.
struct RunView {
  record::RunRecord record;
  std::vector<record::StepMetrics> steps;   ///< the last ones, not more than about a thousand
  std::vector<monitor::MonitorRow> ranks;   ///< the last row of each rank and device, by rank
  std::string monitor_problem;              ///< why monitor.csv is not shown; may be empty
  std::set<int> slow;                       ///< ranks that hold up the others
  std::optional<std::int64_t> total_steps;  ///< of the whole training
  std::optional<double> remaining_seconds;  ///< estimated from the last steps and validations
  bool is_killed = false;                   ///< its process ran on this host, and does not any more

  bool is_running() const { return record.exit_reason == record::kRunning && !is_killed; }
  /// Steps that are done.
  std::int64_t step() const { return steps.empty() ? 0 : steps.back().step; }
};

/// @param folder of the run
/// @throws Error{unreadable_file, malformed_file} for its run.json
RunView look_at(const std::filesystem::path& folder);

/// The run folder that `place` is, or one in it: of a run in progress if there is one, of several
/// the one that was started or resumed last.
/// @throws Error{unreadable_file} if there is none; if none can be read, also
/// Error{malformed_file}: the first problem of read_runs()
std::filesystem::path newest_run(const std::filesystem::path& place);

}  // namespace hpcboot::watch
