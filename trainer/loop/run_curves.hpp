#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "json/bounded_json.hpp"
#include "monitor/monitor_row.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_folder.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// What rank 0 writes during training: metrics.csv and, if requested, events for TensorBoard.
class RunCurves {
 public:
  /// @param config of the run, shown by TensorBoard as text and in its tab HParams
  /// @param resumed_after the last step of a resumed run: what was written for later steps is
  ///        dropped
  /// @throws Error{unwritable_output}; Error{backend_unavailable} if events are requested and
  ///         has_tensorboard() is false
  RunCurves(const record::RunFolder& folder, bool tensorboard, const Json& config,
            std::optional<std::int64_t> resumed_after = std::nullopt);
  ~RunCurves();
  RunCurves(const RunCurves&) = delete;
  RunCurves& operator=(const RunCurves&) = delete;

  /// Each throws Error{unwritable_output}.
  void add(const record::StepMetrics& row);
  void add(const record::EpochRecord& epoch);
  void add(const monitor::MonitorRow& row);
  void flush();
  /// The training is complete.
  void complete();

 private:
  struct Events;
  record::MetricsCsv metrics_;
  std::int64_t last_step_ = 0;
  std::unique_ptr<Events> events_;  ///< null if not requested
};

}  // namespace hpcboot::train
