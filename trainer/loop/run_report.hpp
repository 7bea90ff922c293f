#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "loop/batch_plan.hpp"
#include "loop/rank_log.hpp"
#include "loop/team.hpp"
#include "loop/train_options.hpp"
#include "record/run_folder.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// What a run turned out to be once its options met the launch and the data.
struct RunFacts {
  std::string mode;     ///< single, dp or ddp, never auto
  std::string backend;  ///< between the ranks; empty for one process
  std::string device;   ///< "cpu", "cuda:0"; "cpu:2" or "cuda:0,1" in mode dp
  int devices = 1;      ///< of each rank
  BatchPlan batches;
  int threads = 1;
  std::int64_t train_samples = 0;
  std::int64_t validation_samples = 0;
};

/// What a run tells: the run folder with run.json and the ranks' logs, and the lines on stdout
/// (rank 0).
class RunReport {
 public:
  /// @param begin when the process started, for the totals
  RunReport(Team& team, const TrainOptions& options, const Env& env,
            std::chrono::steady_clock::time_point begin);

  /// Makes the run folder and gathers the ranks' placements. Collective.
  /// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
  void start(const RunFacts& facts);

  /// Everything before the first step is over.
  void started_up();

  /// To be called after each step: the first one is told, with its time.
  void stepped();

  /// @throws Error{unwritable_output}
  void add_epoch(const record::EpochRecord& epoch);

  /// The end, good or bad. @throws Error{unwritable_output}
  void finish(const std::string& exit_reason);

  /// Lines that name the ranks, of any host, that do not answer after a collective that failed with
  /// this code; empty where there is none. Takes some seconds.
  std::string silent_ranks(ErrorCode code) noexcept;

  /// The last words of a run that failed: who and where on stderr, in the rank's log, in run.json.
  void fail(const std::string& exit_reason, const std::string& text) noexcept;

  /// Valid after start().
  const record::RunFolder& folder() const { return *folder_; }
  /// The options in force, as run.json has them. Valid after start().
  const record::Json& config() const { return record_.config; }

 private:
  double seconds() const;
  record::RankRecord own_record(const RunFacts& facts) const;
  void make_folder();
  void fill_record(const RunFacts& facts);
  void say(const std::string& line);
  void write();

  Team& team_;
  const TrainOptions& options_;
  const Env& env_;
  std::chrono::steady_clock::time_point begin_;
  std::string host_;
  std::optional<record::RunFolder> folder_;
  std::optional<RankLog> log_;
  record::RunRecord record_;
  std::vector<record::RankRecord> neighbours_;
  std::optional<std::string> lost_;  ///< lost_neighbours() when a collective failed
};

}  // namespace hpcboot::train
