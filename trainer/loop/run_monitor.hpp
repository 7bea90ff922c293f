#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loop/communicator.hpp"
#include "monitor/monitor_row.hpp"
#include "monitor/sampler.hpp"
#include "monitor/stragglers.hpp"
#include "record/csv_file.hpp"
#include "torch/mailbox.hpp"

namespace hpcboot::train {

/// How a run is monitored.
struct MonitorOptions {
  std::chrono::duration<double> interval{5};
  std::filesystem::path file;  ///< monitor.csv; written by rank 0
  std::string host;
  std::vector<int> cuda_devices;  ///< of this process
  double seconds_before = 0;      ///< of earlier starts of the run
  std::int64_t steps_before =
      0;  ///< of them; rows of later steps, which are done again, are dropped
};

/// Looks at every rank, its devices and its host at intervals, from the first step to the end of
/// the training, on a thread of its own. Rank 0 collects the rows of all ranks.
class RunMonitor {
 public:
  /// What rank 0 has to pass on.
  struct News {
    std::vector<monitor::MonitorRow> rows;
    std::vector<std::string> notes;  ///< stragglers
  };

  /// Collective: the ranks start together, so that their times agree.
  /// @throws Error{unwritable_output, malformed_file, peer_lost, deadline_exceeded}
  RunMonitor(MonitorOptions options, Communicator& communicator,
             std::chrono::steady_clock::time_point begin);
  /// Waits for its thread a few seconds at most.
  ~RunMonitor();
  RunMonitor(const RunMonitor&) = delete;
  RunMonitor& operator=(const RunMonitor&) = delete;

  void begin_epoch(int epoch);
  /// @param seconds of the step; waited those of them in which it waited for other ranks
  void stepped(std::int64_t step, double seconds, double waited);

  /// What has arrived since the last call. @throws Error{unwritable_output}
  News news();

  /// Looks once more, ends, and returns the rest. Collective.
  /// @throws as the constructor
  News finish();

  /// Of every rank whose GPUs are not all watched, why: "n2: …".
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct State;
  /// @return false if the thread had to be abandoned
  bool end_thread();

  Communicator& communicator_;
  std::vector<std::string> problems_;
  // Shared with the thread, which is abandoned if the store of a lost rank 0 does not answer.
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace hpcboot::train
