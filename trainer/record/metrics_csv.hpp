#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

#include "record/append_file.hpp"

namespace hpcboot::record {

/// One step of training as metrics.csv tells it. A number that is not finite is written as nothing.
struct StepMetrics {
  int epoch = 0;          ///< from 1
  std::int64_t step = 0;  ///< from 1, over the whole run
  double loss = 0.0;      ///< of the global batch
  double learning_rate = 0.0;
  double images_per_second = 0.0;  ///< of all ranks
  double data_wait_seconds = 0.0;  ///< the step's share spent waiting for the loader
  double step_seconds = 0.0;       ///< the whole step, waiting included
  double forward_seconds = 0.0;
  double backward_seconds = 0.0;       ///< without what follows
  double communication_seconds = 0.0;  ///< exposed: the backward pass waits for the exchange
  double optimizer_seconds = 0.0;
  std::int64_t bytes_reduced = 0;  ///< what a rank gives to the exchange of gradients
};

/// metrics.csv: a header line and a row a step, which reach the file as AppendFile's bytes do.
class MetricsCsv {
 public:
  /// Begins the file, or goes on with an existing one (a resumed run): a last line that a crash cut
  /// short is dropped, and so are the rows after step `last_step`, which are done again.
  /// @throws Error{unwritable_output}; Error{malformed_file} where another header is there.
  explicit MetricsCsv(const std::filesystem::path& path,
                      std::int64_t last_step = std::numeric_limits<std::int64_t>::max());

  /// Whether a run can go on with this file: one that is not there, empty, or begins as ours do.
  /// @throws Error{malformed_file} where it cannot
  static void require_usable(const std::filesystem::path& path);

  /// Of the last whole row; nothing where there is none.
  /// @throws Error{malformed_file} as require_usable()
  static std::optional<std::int64_t> last_step(const std::filesystem::path& path);

  /// @throws Error{unwritable_output}
  void append(const StepMetrics& row);
  /// @throws Error{unwritable_output}
  void flush() { file_.flush(); }

 private:
  bool is_new_;  ///< first: an existing file is made ready before it is opened
  AppendFile file_;
};

}  // namespace hpcboot::record
