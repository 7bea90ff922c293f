#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/communicator.hpp"
#include "loop/profiler.hpp"
#include "loop/run_curves.hpp"
#include "loop/run_monitor.hpp"
#include "loop/run_report.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// What a resumed run continues from.
struct ResumedAt {
  std::int64_t step = 0;
  double runtime_seconds = 0;  ///< of earlier starts
};

/// Those who watch a run while it trains: curves on rank 0; profiler and monitor if requested.
class RunObservers {
 public:
  /// Collective. @throws Error{unwritable_output, malformed_file, peer_lost, deadline_exceeded};
  /// Error{backend_unavailable} for events that this build cannot write
  RunObservers(const TrainOptions& options, const RunFacts& facts,
               const std::vector<torch::Device>& devices, const std::optional<ResumedAt>& resumed,
               Communicator& communicator, RunReport& report);

  /// Null on all ranks but rank 0.
  RunCurves* curves() { return curves_ ? &*curves_ : nullptr; }
  /// Null if no step is profiled.
  Profiler* profiler() { return profiler_ ? &*profiler_ : nullptr; }

  void begin_epoch(int epoch);
  /// @return lines for the log
  std::vector<std::string> stepped(const record::StepMetrics& step);
  /// Writes what the curves have so far.
  void flush();
  void add(const record::EpochRecord& epoch);

  /// At the end of the training, or when it is stopped. Collective. @return lines for the log
  std::vector<std::string> finish();

 private:
  std::vector<std::string> pass_on(RunMonitor::News news);

  std::optional<RunCurves> curves_;
  std::optional<Profiler> profiler_;
  std::optional<RunMonitor> monitor_;
};

}  // namespace hpcboot::train
