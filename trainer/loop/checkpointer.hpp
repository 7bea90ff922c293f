#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "loop/agreement.hpp"
#include "loop/checkpoint_interval.hpp"
#include "loop/checkpoint_writer.hpp"
#include "loop/communicator.hpp"
#include "loop/epoch_trainer.hpp"
#include "loop/sharded_checkpoint_writer.hpp"
#include "loop/train_options.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::train {

/// Decides, on all ranks together, when a run saves its state and when it stops early. Rank 0
/// writes the checkpoints, or with --sharded-checkpoints all ranks.
class Checkpointer {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param identity run_identity(), stored in every checkpoint
  /// @param begin when the process started: --time-limit counts from then
  /// @param runtime_before of the run's earlier starts, in seconds
  /// @param now the clock for --time-limit and for checkpoints by minutes
  /// @throws UsageError; Error{unwritable_output}
  Checkpointer(const TrainOptions& options, const record::RunFolder& folder, const Json& identity,
               EpochTrainer& trainer, Communicator& communicator, Clock::time_point begin,
               double runtime_before, std::function<Clock::time_point()> now = Clock::now);

  /// Must be called after every step. Collective.
  /// @throws Error{unwritable_output} if an earlier checkpoint could not be written
  AfterStep after_step(double seconds, bool last);

  /// Whether to interrupt the validation. Must be called equally often on all ranks. Collective.
  /// @throws Error{unwritable_output} if an earlier checkpoint could not be written
  bool interrupts_validation(double seconds);

  /// Saves the trainer's state while training continues.
  /// @throws Error{unwritable_output}
  void save();

  /// Called when an epoch and its validation are done and the trainer's state is at the start of
  /// the next epoch.
  /// @throws Error{unwritable_output}
  void end_epoch(const BestValidation& validation);

  /// Waits until everything is on disk, and a sharded checkpoint is complete, however long that
  /// takes. Collective. @throws Error{unwritable_output}
  void finish();

  /// Why the run stopped early: "signal TERM", "time limit"; empty if it did not.
  const std::string& stop_reason() const { return stop_reason_; }
  /// How long training waited for checkpoints, in seconds; 0 on all ranks but rank 0.
  double waited_seconds() const;
  /// The newest checkpoint on disk; empty before the first, and on all ranks but rank 0.
  std::filesystem::path newest() const;

 private:
  StopFlags ask(double seconds, bool now);
  void wait_for_disks();
  double longest_save_seconds() const;
  double seconds_since(Clock::time_point begin) const;
  bool time_is_up(double seconds) const;
  double runtime() const;
  void save(CheckpointKind kind);

  const TrainOptions& options_;
  const CheckpointInterval interval_;
  const std::chrono::seconds time_limit_;
  const Json& identity_;
  EpochTrainer& trainer_;
  Communicator& communicator_;
  Agreement agreement_;
  const std::function<Clock::time_point()> now_;
  Clock::time_point begin_;
  Clock::time_point last_save_;
  double runtime_before_;
  std::optional<CheckpointWriter> writer_;          ///< rank 0's
  std::optional<ShardedCheckpointWriter> sharded_;  ///< each rank's
  std::optional<BestValidation> best_;
  double collecting_ = 0;          ///< seconds, in all saves
  double longest_collecting_ = 0;  ///< in one save
  std::string stop_reason_;
};

}  // namespace hpcboot::train
