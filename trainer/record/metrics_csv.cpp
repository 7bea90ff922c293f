#include "record/metrics_csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
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

/// Drops what a crash cut short of an existing file's last line.
void drop_partial_line(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.compare(0, kHeader.size(), kHeader) != 0) {
    throw Error(ErrorCode::malformed_file,
                fmt::format("'{}' begins with '{}'", path.string(),
                            std::string_view(text).substr(0, text.find('\n'))),
                fmt::format("the header '{}'", kHeader.substr(0, kHeader.size() - 1)),
                "move that file away, or start a new run");
  }
  const std::size_t whole_lines = text.rfind('\n') + 1;
  std::error_code error;
  std::filesystem::resize_file(path, whole_lines, error);
  if (error) throw output_error("write", path, error.value());
}

/// Is there a file with something in it? Made ready to go on with then.
bool goes_on(const std::filesystem::path& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  if (absent || size == 0) return false;
  drop_partial_line(path);
  return true;
}

}  // namespace

MetricsCsv::MetricsCsv(const std::filesystem::path& path) : is_new_(!goes_on(path)), file_(path) {
  if (is_new_) file_.append(kHeader);
}

void MetricsCsv::append(const StepMetrics& row) {
  file_.append(fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{}\n", row.epoch, row.step, field(row.loss),
      field(row.learning_rate), field(row.images_per_second), field(row.data_wait_seconds),
      field(row.step_seconds), field(row.forward_seconds), field(row.backward_seconds),
      field(row.communication_seconds), field(row.optimizer_seconds), row.bytes_reduced));
}

}  // namespace hpcboot::record
