#pragma once

#include <ATen/record_function.h>
#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "loop/communicator.hpp"
#include "loop/operator_recorder.hpp"
#include "loop/profile_files.hpp"
#include "profile/profile_schedule.hpp"
#include "profile/trace_event.hpp"

namespace hpcboot::train {

/// What a run's profiler needs to know.
struct ProfilerOptions {
  profile::ProfileSchedule schedule;
  std::int64_t most_bytes = 0;   ///< of the traces of each rank, and of the merged ones
  std::filesystem::path folder;  ///< created when needed
  std::string host;
  std::string backend;  ///< of the collectives; empty for a single process
};

/// Profiles some steps of a run, and leaves in a folder for each cycle of the schedule (numbered on
/// in a resumed run):
///
///     rank_00.1.pt.trace.json …   what each rank did
///     merged.1.pt.trace.json      all ranks, by one clock, if there are several
///     rank_00.1.operators.csv …   operators by time
///     ranks.1.csv                 how each rank spent its time
///
/// The names are those by which TensorBoard's plugin finds workers and spans.
class Profiler {
 public:
  /// Collective.
  /// @param show receives the tables at the end of a cycle, on rank 0
  /// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
  Profiler(ProfilerOptions options, c10::Device device, Communicator& communicator,
           std::function<void(const Encoded& lines)> show);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Called by every rank at the start of each step, before the wait for its batch.
  /// @param number of the step, from 1, over the whole run
  void begin_step(std::int64_t number);
  /// After the step's work: waits for the device if the step is recorded, so that its time is
  /// known.
  void complete_step();
  /// At the end of the step. Collective at the end of a cycle.
  /// @param last of the epoch: what follows it is not recorded
  /// @return how long files were written, in seconds
  /// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
  double end_step(bool last);

  /// Leaves what a cycle has recorded whose end the run does not reach. Collective.
  /// @throws as end_step()
  void finish();

  /// For data::LoaderOptions::prepared. Thread-safe.
  void prepared(int worker, std::chrono::steady_clock::time_point begin);

 private:
  void start_recording();
  void pause_recording();
  void end_cycle();

  ProfilerOptions options_;
  c10::Device device_;
  Communicator& communicator_;
  std::function<void(const Encoded& lines)> show_;
  std::int64_t steps_ = 0;  // begun in this process
  std::int64_t cycle_;      // the next one
  TraceBudget budget_;
  bool is_full_ = false;  // nothing more is recorded
  profile::ProfileStep now_;
  profile::Recording recorded_;  // of the cycle, before a pause
  std::optional<OperatorRecorder> recorder_;
  std::optional<at::RecordFunction> step_;
  std::mutex loaded_mutex_;
  bool is_active_ = false;  // guarded by it, as is the next one
  std::vector<profile::TraceEvent> loaded_;
};

}  // namespace hpcboot::train
