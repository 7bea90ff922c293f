#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "json/bounded_json.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_folder.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// False where the build lacks what event files take (protozero).
bool has_tensorboard();

/// What rank 0 writes while it trains: metrics.csv, and events for TensorBoard where they are
/// wanted.
class RunCurves {
 public:
  /// @param config of the run, shown by TensorBoard as text
  /// @param resumed_after the last step of a run that goes on: what was written of later ones is
  ///        dropped
  /// @throws Error{unwritable_output}; Error{backend_unavailable} where events are wanted and
  ///   has_tensorboard() is false
  RunCurves(const record::RunFolder& folder, bool tensorboard, const Json& config,
            std::optional<std::int64_t> resumed_after = std::nullopt);
  ~RunCurves();
  RunCurves(const RunCurves&) = delete;
  RunCurves& operator=(const RunCurves&) = delete;

  /// Each throws Error{unwritable_output}.
  void add(const record::StepMetrics& row);
  void add(const record::EpochRecord& epoch);
  void flush();

 private:
  struct Events;
  record::MetricsCsv metrics_;
  std::int64_t last_step_ = 0;
  std::unique_ptr<Events> events_;  ///< null where they are not wanted
};

}  // namespace hpcboot::train
