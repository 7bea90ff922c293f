#pragma once

#include <functional>
#include <optional>

#include "loop/batch_plan.hpp"
#include "loop/communicator.hpp"
#include "loop/parallel_model.hpp"
#include "loop/profiler.hpp"
#include "loop/progress.hpp"
#include "loop/run_curves.hpp"
#include "loop/train_options.hpp"
#include "loop/train_step.hpp"
#include "loop/training_state.hpp"
#include "loop/training_tensors.hpp"
#include "record/run_record.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

/// The fewest of `all` samples that are at least this fraction of them.
std::int64_t samples_of_fraction(std::int64_t all, double fraction);

/// The number of training samples in an epoch: --data-fraction of the set, from its beginning.
std::int64_t training_samples(const tasks::Task& task, const TrainOptions& options);

/// How many of them each rank trains on in an epoch, the same on every rank.
std::int64_t samples_of_rank(std::int64_t samples, const Communicator& communicator);

/// The optimizer steps of an epoch over this many samples, the same on every rank.
std::int64_t steps_of_an_epoch(std::int64_t samples, const BatchPlan& batches,
                               const Communicator& communicator);

/// What to do after a step, the same on every rank.
enum class AfterStep { go_on, save, save_and_stop };

/// Trains a model epoch by epoch, as a single process or as one of several ranks.
class EpochTrainer {
 public:
  /// What an epoch needs from the rest of the run.
  struct Surroundings {
    RunCurves* curves = nullptr;   ///< receives a row per step; null on all ranks but rank 0
    Profiler* profiler = nullptr;  ///< null if no step is profiled
    ProgressBar& bar;
    /// Called after each step with its number and how its time was spent.
    std::function<void(const record::StepMetrics& step)> stepped;
    /// Called after each step with its duration and whether it was the epoch's last; if it throws,
    /// the epoch ends with that exception.
    std::function<AfterStep(double seconds, bool last)> after_step;
    /// Called after a step to be saved, once state() includes it completely.
    std::function<void()> save;
  };

  /// @param devices over all ranks, for --scale-lr
  EpochTrainer(ParallelModel& model, const tasks::Task& task, const TrainOptions& options,
               const BatchPlan& batches, int devices, Communicator& communicator);

  /// One pass over the training set, or over the part that remains according to state().
  /// Collective.
  /// @return the epoch's record without its validation; nothing if it was stopped
  /// @throws Error{peer_lost, deadline_exceeded, diverged}
  std::optional<record::EpochRecord> run(const Surroundings& around);

  /// Called after the epoch's validation: moves state() to the start of the next epoch.
  void end_epoch();

  /// The progress of training. Valid between epochs, in save(), and after run().
  const TrainingState& state() const { return state_; }
  /// What a checkpoint contains, on rank 0; nothing on the others. Collective.
  std::vector<NamedTensor> collect_tensors();
  /// What this rank writes of a sharded checkpoint. Collective.
  CheckpointShare collect_share();
  /// About the size of a checkpoint. Not collective.
  std::int64_t checkpoint_bytes();
  /// Must be called before the first run(). @throws Error{malformed_file}
  void load_state(const TrainingState& state, const std::vector<NamedTensor>& tensors,
                  const std::string& file);
  /// The same from the folder of a sharded checkpoint.
  void load_state(const TrainingState& state, const std::filesystem::path& folder);

 private:
  record::EpochRecord record() const;
  torch::nn::Module& trained_module();
  void restore_progress(const TrainingState& state);

  ParallelModel& model_;
  const tasks::Task& task_;
  const TrainOptions& options_;
  BatchPlan batches_;
  Communicator& communicator_;
  TrainStep step_;
  TrainingState state_;
};

}  // namespace hpcboot::train
