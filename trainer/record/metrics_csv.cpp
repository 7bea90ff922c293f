#include "record/metrics_csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "record/output_error.hpp"

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

/// What to keep of a file.
struct Kept {
  std::size_t bytes = kHeader.size();     ///< whole lines
  std::optional<std::int64_t> last_step;  ///< of the last of them
};

/// The whole rows up to `last_step`.
Kept kept_of(std::string_view text, std::int64_t last_step) {
  Kept kept;
  for (std::size_t begin = kept.bytes; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    const auto step = step_of(text.substr(begin, end - begin));
    if (!step || *step > last_step) break;
    kept.bytes = begin = end + 1;
    kept.last_step = step;
  }
  return kept;
}

std::string text_of(const std::filesystem::path& path) {
  MetricsCsv::require_usable(path);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Drops an existing file's last line if a crash cut it short, and the rows after `last_step`.
void cut(const std::filesystem::path& path, std::int64_t last_step) {
  const std::size_t bytes = kept_of(text_of(path), last_step).bytes;
  std::error_code error;
  std::filesystem::resize_file(path, bytes, error);
  if (error) throw output_error("write", path, error.value());
}

/// Whether a non-empty file exists; if so, it is prepared for more rows.
bool goes_on(const std::filesystem::path& path, std::int64_t last_step) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  if (absent || size == 0) return false;
  cut(path, last_step);
  return true;
}

}  // namespace

MetricsCsv::MetricsCsv(const std::filesystem::path& path, std::int64_t last_step)
    : is_new_(!goes_on(path, last_step)), file_(path) {
  if (is_new_) file_.append(kHeader);
}

void MetricsCsv::append(const StepMetrics& row) {
  file_.append(fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{}\n", row.epoch, row.step, field(row.loss),
      field(row.learning_rate), field(row.images_per_second), field(row.data_wait_seconds),
      field(row.step_seconds), field(row.forward_seconds), field(row.backward_seconds),
      field(row.communication_seconds), field(row.optimizer_seconds), row.bytes_reduced));
}

std::optional<std::int64_t> MetricsCsv::last_step(const std::filesystem::path& path) {
  return kept_of(text_of(path), std::numeric_limits<std::int64_t>::max()).last_step;
}

void MetricsCsv::require_usable(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return;
  std::string begin;
  if (std::filesystem::is_regular_file(status)) {
    begin.resize(kHeader.size());
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(file.gcount()));
    if (begin.empty() || begin == kHeader) return;
    begin = " begins with '" + begin.substr(0, begin.find('\n')) + "'";
  } else {
    begin = " is not a regular file";
  }
  throw Error(ErrorCode::malformed_file, fmt::format("'{}'{}", path.string(), begin),
              fmt::format("the header '{}'", kHeader.substr(0, kHeader.size() - 1)),
              "move that file away, or start a new run");
}

}  // namespace hpcboot::record
