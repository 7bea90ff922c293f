#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "loop/batch_plan.hpp"
#include "loop/communicator.hpp"
#include "loop/host_load.hpp"
#include "loop/rank_log.hpp"
#include "loop/resume.hpp"
#include "loop/train_options.hpp"
#include "record/run_folder.hpp"
#include "record/run_lock.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// The properties of a run, once its options, the launch and the data are known.
struct RunFacts {
  std::string mode;                        ///< single, dp or ddp, never auto
  std::string backend;                     ///< between the ranks; empty for a single process
  std::string device;                      ///< "cpu", "cuda:0"; "cpu:2" or "cuda:0,1" in mode dp
  std::optional<std::string> device_name;  ///< of a GPU
  int devices = 1;                         ///< of each rank
  BatchPlan batches;
  int threads = 1;
  std::int64_t train_samples = 0;
  std::int64_t validation_samples = 0;
  std::string sample;  ///< data::Samples::kind()
};

/// What a run reports: the run folder with run.json and the ranks' logs, and the lines on stdout
/// (rank 0).
class RunReport {
 public:
  /// @param begin when the process started, for the totals
  /// @param launch_seconds from the start of the launch to main()
  RunReport(Communicator& communicator, const TrainOptions& options, const Env& env,
            std::chrono::steady_clock::time_point begin, double launch_seconds);

  /// Creates the run folder, or continues in that of `resumed`, and gathers the ranks' placements.
  /// Collective.
  /// @param identity run_identity()
  /// @param resumed on rank 0 the run to resume, whose lock is taken over; null for a new run, and
  ///        on the other ranks
  /// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
  void start(const RunFacts& facts, const Json& identity, ResumePoint* resumed);

  /// Called when everything before the first step is done.
  void started_up();

  /// Must be called after the first step; reports it, with its time.
  void stepped();
  bool has_stepped() const { return record_.totals.first_step_seconds.has_value(); }

  /// @throws Error{unwritable_output}
  void add_epoch(const record::EpochRecord& epoch);

  /// Examines the hosts once more; if a rank has left, only this information is lost. Collective.
  void trained();

  /// Called at the end, after success or failure: releases the run folder.
  /// @throws Error{unwritable_output}
  void finish(const std::string& exit_reason);

  /// Lines that name the ranks, on any host, that do not answer after a collective has failed with
  /// this code; empty if there are none. Takes some seconds.
  Encoded silent_ranks(ErrorCode code) noexcept;

  /// How long training waited for checkpoints, for the totals.
  void set_checkpoint_seconds(double seconds) { record_.totals.checkpoint_seconds = seconds; }

  /// A line on stdout and in the log of rank 0.
  void note(const std::string& line);

  /// Several lines on stdout and in the log of rank 0.
  void show(const Encoded& lines);

  /// The process that holds, or will hold, the run folder.
  record::LockHolder holder() const;

  /// When the process started.
  std::chrono::steady_clock::time_point begin() const { return begin_; }

  /// Reports a failure of the run, with rank and host, on stderr, in the rank's log and in
  /// run.json.
  void fail(const std::string& exit_reason, const Encoded& text) noexcept;

  /// The same for a failure that all ranks detect together, so that rank 0 reports it for all: the
  /// others only write it to their logs, and none returns before rank 0 has written everything.
  /// Collective.
  void fail_together(const std::string& exit_reason, const Encoded& text) noexcept;

  /// Valid after start().
  const record::RunFolder& folder() const { return *folder_; }
  /// The options in force, as run.json has them. Valid after start().
  const Json& config() const { return record_.config; }

 private:
  double seconds() const;
  void go_on(ResumePoint& resumed);
  record::RankRecord own_record(const RunFacts& facts) const;
  void make_folder();
  void fill_record(const RunFacts& facts);
  std::vector<HostLook> look_at_hosts();
  void warn(const std::vector<std::string>& lines);
  void say(const std::string& line);
  void write();

  Communicator& communicator_;
  const TrainOptions& options_;
  const Env& env_;
  std::chrono::steady_clock::time_point begin_;
  std::string host_;
  double runtime_before_ = 0;  ///< of earlier starts
  std::optional<record::RunLock> lock_;
  bool has_locks_ = true;  ///< whether the run folder's file system supports locks
  std::optional<record::RunFolder> folder_;
  std::optional<RankLog> log_;
  record::RunRecord record_;
  std::vector<record::RankRecord> neighbours_;
  int threads_ = 1;                    ///< that this rank computes with, on all its devices
  std::vector<HostLook> first_looks_;  ///< by rank
  std::optional<std::string> lost_;    ///< lost_neighbours() when a collective failed
};

}  // namespace hpcboot::train
