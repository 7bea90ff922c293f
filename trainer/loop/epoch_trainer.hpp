#pragma once

#include <functional>
#include <optional>

#include "datasets/dataset.hpp"
#include "loop/batch_plan.hpp"
#include "loop/communicator.hpp"
#include "loop/parallel_model.hpp"
#include "loop/progress.hpp"
#include "loop/run_curves.hpp"
#include "loop/train_options.hpp"
#include "loop/train_step.hpp"
#include "loop/training_state.hpp"
#include "loop/training_tensors.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// How many samples of the training set an epoch uses: the first ones, by --data-fraction.
std::int64_t training_samples(const data::Dataset& set, const TrainOptions& options);

/// What follows a step, the same on every rank.
enum class AfterStep { go_on, save, save_and_stop };

/// Trains a model epoch by epoch, alone or as one rank of several.
class EpochTrainer {
 public:
  /// What an epoch needs of the run around it.
  struct Surroundings {
    RunCurves* curves = nullptr;  ///< a row a step goes there; null on all ranks but the first
    ProgressBar& bar;
    /// Called after each step with its duration and whether it was the epoch's last; an exception
    /// that it throws ends the epoch.
    std::function<AfterStep(double seconds, bool last)> after_step;
    /// Called after a step that is to be saved, when state() holds all of it.
    std::function<void()> save;
  };

  /// @param devices over all ranks, for --scale-lr
  EpochTrainer(ParallelModel& model, const data::Dataset& set, const TrainOptions& options,
               const BatchPlan& batches, int devices, Communicator& communicator);

  /// One pass over the training set, or what state() says is left of it. Collective.
  /// @return the epoch's record without its validation; nothing where it was stopped
  /// @throws Error{peer_lost, deadline_exceeded, diverged}
  std::optional<record::EpochRecord> run(const Surroundings& around);

  /// The epoch's validation is over: state() becomes the beginning of the next epoch.
  void end_epoch();

  /// How far training is: between epochs, in save(), and after run().
  const TrainingState& state() const { return state_; }
  std::vector<NamedTensor> tensors();
  /// Before the first run(). @throws Error{malformed_file}
  void load_state(const TrainingState& state, const std::vector<NamedTensor>& tensors,
                  const std::string& file);

 private:
  record::EpochRecord record() const;

  ParallelModel& model_;
  const data::Dataset& set_;
  const TrainOptions& options_;
  BatchPlan batches_;
  Communicator& communicator_;
  TrainStep step_;
  TrainingState state_;
};

}  // namespace hpcboot::train
