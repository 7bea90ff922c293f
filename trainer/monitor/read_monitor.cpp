#include "monitor/read_monitor.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "core/regular_file.hpp"
#include "hpcboot/error.hpp"
#include "record/csv_reader.hpp"

namespace hpcboot::monitor {
namespace {

// Whoever draws or averages the values needs differences and squares that are finite.
constexpr double kLongestRun = 1e9;  // seconds: 30 years
constexpr double kLargestValue = 1e18;

/// Nothing if the row has an impossible time.
std::optional<MonitorRow> row_of(const record::CsvReader& in) {
  MonitorRow row;
  row.seconds = in.number<double>("seconds").value_or(0);
  if (row.seconds < 0 || row.seconds > kLongestRun) return std::nullopt;
  row.epoch = in.number<int>("epoch").value_or(0);
  row.epoch_seconds = in.number<double>("epoch_seconds").value_or(0);
  row.step = in.number<std::int64_t>("step").value_or(0);
  row.rank = in.number<int>("rank").value_or(0);
  row.host = in.text("host");
  row.device = in.text("device");
  for (const MonitorColumn& column : kMonitorColumns) {
    const auto value = in.number<double>(std::string(column.name));
    if (value && std::abs(*value) <= kLargestValue) row.*column.value = value;
  }
  return row;
}

}  // namespace

std::vector<MonitorRow> read_monitor(std::istream& in, const std::string& name) {
  record::CsvReader reader(in);
  for (const char* needed : {"seconds", "rank", "host"}) {
    if (reader.has(needed)) continue;
    throw Error(ErrorCode::malformed_file, "'" + name + "' has no column '" + needed + "'",
                "the monitor.csv of a run", "name the run folder that the trainer wrote");
  }
  std::vector<MonitorRow> rows;
  while (reader.next()) {
    if (auto row = row_of(reader)) rows.push_back(*std::move(row));
  }
  return rows;
}

std::vector<MonitorRow> read_monitor(const std::filesystem::path& file) {
  RegularFileStream in(file);
  if (in.error() != 0) {
    throw Error(ErrorCode::unreadable_file,
                "'" + file.string() + "' cannot be read: " + in.reason(),
                "the monitor.csv of a run", "train with --monitor SECONDS");
  }
  return read_monitor(in, file.string());
}

}  // namespace hpcboot::monitor
