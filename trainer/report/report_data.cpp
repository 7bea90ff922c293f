#include "report/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/counted.hpp"
#include "record/read_runs.hpp"
#include "record/run_folder.hpp"
#include "report/published_figures.hpp"

namespace hpcboot::report {
namespace {

namespace fs = std::filesystem;

/// Keeps the newest runs, the newest first.
void keep_newest(std::vector<DetailedRun>& newest, const fs::path& folder,
                 const record::RunRecord& run) {
  const auto is_newer = [](const record::RunRecord& a, const record::RunRecord& b) {
    return std::tie(a.started, a.run) > std::tie(b.started, b.run);
  };
  const auto place = std::find_if(newest.begin(), newest.end(), [&](const DetailedRun& other) {
    return is_newer(run, other.record);
  });
  if (place == newest.end() && newest.size() >= kMostDetails) return;
  newest.insert(place, {folder, run});
  if (newest.size() > kMostDetails) newest.pop_back();
}

}  // namespace

ReportData read_report_data(const std::vector<fs::path>& places) {
  ReportData data;
  record::RuntimeRows rows;
  record::SkippedRuns skipped = record::read_runs(
      places, record::Runs::all, [&](const fs::path& folder, const record::RunRecord& run) {
        keep_newest(data.newest, folder, run);
        plots::RunData plotted = plots::data_of(folder, run);
        const bool is_newest = !data.monitored || data.monitored->started < run.started;
        std::error_code error;
        if (is_newest && fs::exists(record::RunFolder(folder).monitor_csv(), error))
          data.monitored = plotted;
        if (!run.resumed.empty()) {
          const auto times = static_cast<std::int64_t>(run.resumed.size());
          data.resumed.push_back(fmt::format("{}: {}", run.run, counted(times, "time")));
        }
        if (run.exit_reason != record::kFinished) {
          data.unfinished.push_back(run.exit_reason == record::kRunning
                                        ? fmt::format("{}: in progress, or killed", run.run)
                                        : fmt::format("{}: {}", run.run, run.exit_reason));
          return;
        }
        rows.add(run, folder);
        if (is_as_published(run)) data.comparable.push_back(plotted);
        data.finished.push_back(std::move(plotted));
      });
  data.skipped = std::move(skipped.lines);
  data.rows = rows.rows();
  return data;
}

std::string details_id(const ReportData& data, const record::RuntimeRow& row) {
  for (std::size_t i = 0; i < data.newest.size(); ++i) {
    if (data.newest[i].folder == row.folder) return fmt::format("run-{}", i + 1);
  }
  return "";
}

}  // namespace hpcboot::report
