#include "record/metrics_csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "record/csv_reader.hpp"

namespace hpcboot::record {
namespace {

const std::string& header() {
  static const std::string text = [] {
    std::string names = "epoch,step";
    for (const StepColumn& column : kStepColumns) names += "," + std::string(column.name);
    return names + ",bytes_reduced\n";
  }();
  return text;
}

/// The shortest text that reads back as the same number.
std::string field(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

/// The step of a row; nothing if the text is not a row.
std::optional<std::int64_t> step_of(std::string_view row) {
  const std::size_t begin = row.find(',') + 1;
  const std::size_t end = row.find(',', begin);
  if (begin == 0 || end == std::string_view::npos) return std::nullopt;
  std::int64_t step = 0;
  const auto [stop, error] = std::from_chars(row.data() + begin, row.data() + end, step);
  if (error != std::errc() || stop != row.data() + end) return std::nullopt;
  return step;
}

CsvFile::Keeps up_to(std::int64_t last_step) {
  return [last_step](std::string_view row) {
    const auto step = step_of(row);
    return step && *step <= last_step;
  };
}

}  // namespace

constexpr std::int64_t kMostSteps = std::int64_t{1} << 53U;
constexpr double kLargestMetric = 1e300;  // differences and sums of what is read are finite

std::vector<StepMetrics> read_metrics(std::istream& in) {
  std::vector<StepMetrics> rows;
  for (CsvReader reader(in); reader.next();) {
    StepMetrics row;
    row.epoch = reader.number<int>("epoch").value_or(0);
    row.step = reader.number<std::int64_t>("step").value_or(0);
    if (row.step < 1 || row.step > kMostSteps) continue;
    for (const StepColumn& column : kStepColumns) {
      const double value = reader.number<double>(std::string(column.name)).value_or(NAN);
      row.*column.value = std::abs(value) <= kLargestMetric ? value : NAN;
    }
    row.bytes_reduced = reader.number<std::int64_t>("bytes_reduced").value_or(0);
    rows.push_back(row);
  }
  return rows;
}

MetricsCsv::MetricsCsv(const std::filesystem::path& path, std::int64_t last_step)
    : file_(path, header(), up_to(last_step)) {}

void MetricsCsv::append(const StepMetrics& row) {
  std::string line = fmt::format("{},{}", row.epoch, row.step);
  for (const StepColumn& column : kStepColumns) line += "," + field(row.*column.value);
  file_.append(line + fmt::format(",{}\n", row.bytes_reduced));
}

std::optional<std::int64_t> MetricsCsv::last_step(const std::filesystem::path& path) {
  return step_of(
      CsvFile::kept(path, header(), up_to(std::numeric_limits<std::int64_t>::max())).last_row);
}

void MetricsCsv::require_usable(const std::filesystem::path& path) {
  CsvFile::require_usable(path, header());
}

}  // namespace hpcboot::record
