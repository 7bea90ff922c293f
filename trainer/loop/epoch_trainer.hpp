#pragma once

#include <functional>

#include "datasets/dataset.hpp"
#include "loop/batch_plan.hpp"
#include "loop/parallel_model.hpp"
#include "loop/progress.hpp"
#include "loop/run_curves.hpp"
#include "loop/team.hpp"
#include "loop/train_options.hpp"
#include "loop/train_step.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// How many samples of the training set an epoch uses: the first ones, by --data-fraction.
std::int64_t training_samples(const data::Dataset& set, const TrainOptions& options);

/// Trains a model epoch by epoch, alone or as one rank of several.
class EpochTrainer {
 public:
  /// @param devices over all ranks, for --scale-lr
  EpochTrainer(ParallelModel& model, const data::Dataset& set, const TrainOptions& options,
               const BatchPlan& batches, int devices, Team& team);

  /// One pass over the training set. Collective.
  /// @param epoch from 1
  /// @param curves a row a step goes there; null on all ranks but the first
  /// @param after_step called after each step; an exception that it throws ends the epoch
  /// @return the epoch's record without its validation
  /// @throws Error{peer_lost, deadline_exceeded, diverged}
  record::EpochRecord run(int epoch, RunCurves* curves, ProgressBar& bar,
                          const std::function<void()>& after_step);

 private:
  ParallelModel& model_;
  const data::Dataset& set_;
  const TrainOptions& options_;
  BatchPlan batches_;
  Team& team_;
  TrainStep step_;
  std::int64_t steps_ = 0;  ///< over the whole run
};

}  // namespace hpcboot::train
