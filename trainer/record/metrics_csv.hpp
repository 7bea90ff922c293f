#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "record/csv_file.hpp"

namespace hpcboot::record {

/// One training step, as metrics.csv records it. A number that is not finite is left empty.
struct StepMetrics {
  int epoch = 0;          ///< from 1
  std::int64_t step = 0;  ///< from 1, over the whole run
  double loss = 0.0;      ///< of the global batch
  double learning_rate = 0.0;
  double images_per_second = 0.0;  ///< of all ranks
  double data_wait_seconds = 0.0;  ///< the step's share spent waiting for the loader
  double step_seconds = 0.0;       ///< the whole step, waiting included
  double forward_seconds = 0.0;
  double backward_seconds = 0.0;       ///< without communication
  double communication_seconds = 0.0;  ///< exposed: the backward pass waits for the all-reduce
  double optimizer_seconds = 0.0;
  std::int64_t bytes_reduced = 0;  ///< per rank, in the gradient all-reduce
};

struct StepColumn {
  std::string_view name;
  double StepMetrics::*value;
};

/// The columns of metrics.csv between `epoch,step` and `bytes_reduced`.
constexpr std::array<StepColumn, 9> kStepColumns{{
    {"loss", &StepMetrics::loss},
    {"learning_rate", &StepMetrics::learning_rate},
    {"images_per_second", &StepMetrics::images_per_second},
    {"data_wait_seconds", &StepMetrics::data_wait_seconds},
    {"step_seconds", &StepMetrics::step_seconds},
    {"forward_seconds", &StepMetrics::forward_seconds},
    {"backward_seconds", &StepMetrics::backward_seconds},
    {"communication_seconds", &StepMetrics::communication_seconds},
    {"optimizer_seconds", &StepMetrics::optimizer_seconds},
}};

/// The rows of a metrics.csv. Columns are found by their names; what is missing, empty or beyond
/// 1e300 is not a number (bytes_reduced: 0). Rows without a step from 1 to 2^53 are left out.
std::vector<StepMetrics> read_metrics(std::istream& in);

/// metrics.csv: a header line and one row per step, buffered as in AppendFile.
class MetricsCsv {
 public:
  /// Starts the file, or continues an existing one (a resumed run): a last line that a crash cut
  /// short is dropped, and so are the rows after step `last_step`, whose steps are done again.
  /// @throws Error{unwritable_output}; Error{malformed_file} if the file has another header.
  explicit MetricsCsv(const std::filesystem::path& path,
                      std::int64_t last_step = std::numeric_limits<std::int64_t>::max());

  /// Checks that a run can continue this file: it is missing or empty, or starts with our header.
  /// @throws Error{malformed_file} if it cannot
  static void require_usable(const std::filesystem::path& path);

  /// The step of the last complete row; nothing if there is none.
  /// @throws Error{malformed_file} as require_usable()
  static std::optional<std::int64_t> last_step(const std::filesystem::path& path);

  /// @throws Error{unwritable_output}
  void append(const StepMetrics& row);
  /// @throws Error{unwritable_output}
  void flush() { file_.flush(); }

 private:
  CsvFile file_;
};

}  // namespace hpcboot::record
