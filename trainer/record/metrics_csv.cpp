#include "record/metrics_csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot::record {
namespace {

constexpr std::string_view kHeader =
    "epoch,step,loss,learning_rate,images_per_second,data_wait_seconds,step_seconds,"
    "forward_seconds,backward_seconds,communication_seconds,optimizer_seconds,bytes_reduced\n";

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

MetricsCsv::MetricsCsv(const std::filesystem::path& path, std::int64_t last_step)
    : file_(path, kHeader, up_to(last_step)) {}

void MetricsCsv::append(const StepMetrics& row) {
  file_.append(fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{}\n", row.epoch, row.step, field(row.loss),
      field(row.learning_rate), field(row.images_per_second), field(row.data_wait_seconds),
      field(row.step_seconds), field(row.forward_seconds), field(row.backward_seconds),
      field(row.communication_seconds), field(row.optimizer_seconds), row.bytes_reduced));
}

std::optional<std::int64_t> MetricsCsv::last_step(const std::filesystem::path& path) {
  const std::string text =
      CsvFile::kept_text(path, kHeader, up_to(std::numeric_limits<std::int64_t>::max()));
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos || text.size() == kHeader.size()) return std::nullopt;
  return step_of(std::string_view(text).substr(text.rfind('\n', end - 1) + 1));
}

void MetricsCsv::require_usable(const std::filesystem::path& path) {
  CsvFile::require_usable(path, kHeader);
}

}  // namespace hpcboot::record
