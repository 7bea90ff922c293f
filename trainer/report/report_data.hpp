#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plots/run_data.hpp"
#include "record/run_record.hpp"
#include "record/runtime_table.hpp"

namespace hpcboot::report {

/// A report shows so many runs in detail, the newest.
constexpr std::size_t kMostDetails = 20;

/// A run that the report shows in detail.
struct DetailedRun {
  std::filesystem::path folder;
  record::RunRecord record;
};

struct ReportData {
  std::vector<record::RuntimeRow> rows;     ///< of the finished runs
  std::vector<plots::RunData> finished;     ///< for plots
  std::vector<plots::RunData> comparable;   ///< of these, the ones like the published figures
  std::vector<DetailedRun> newest;          ///< finished or not, the newest first
  std::optional<plots::RunData> monitored;  ///< the newest with a monitor.csv
  std::vector<std::string> unfinished;      ///< runs that failed, were stopped, or are in progress
  std::vector<std::string> resumed;         ///< runs that were resumed, and how often
  std::vector<std::string> skipped;         ///< a line for each that cannot be read
};

/// @param places as for record::read_runs()
/// @throws Error{unreadable_file} if a place does not exist or cannot be listed.
ReportData read_report_data(const std::vector<std::filesystem::path>& places);

/// The id of a run's details on the page; empty if it has none.
std::string details_id(const ReportData& data, const record::RuntimeRow& row);

}  // namespace hpcboot::report
