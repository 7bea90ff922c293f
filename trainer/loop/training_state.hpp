#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "hpcboot/torch/grad_scaler_state.hpp"
#include "json/json_reader.hpp"
#include "loop/step_phases.hpp"

namespace hpcboot::train {

// No LibTorch here: the contents of a file are read, and fuzzed, without it.

/// More than any epoch has; multiplied by the images of a batch it does not overflow.
constexpr std::int64_t kMostSteps = std::numeric_limits<std::int32_t>::max();

/// The progress of an epoch, and its sums so far.
struct EpochProgress {
  /// Optimizer steps. The run has used this many global batches of the epoch's permutation,
  /// independent of the number of ranks.
  std::int64_t steps = 0;
  double loss_sum = 0;     ///< over all ranks
  double loss_images = 0;  ///< samples, as also below
  std::int64_t images_seen = 0;
  double train_seconds = 0;
  double data_wait_seconds = 0;
  StepPhases phases;
  std::int64_t skipped_before = 0;  ///< GradScaler's count at the start of the epoch
};

/// The best epoch so far: highest score, then lowest loss.
struct BestValidation {
  int epoch = 0;
  double score = 0;  ///< the first measure of the task
  double loss = 0;

  bool is_beaten_by(const BestValidation& other) const {
    return other.score > score || (other.score == score && other.loss < loss);
  }
};

/// NaN and infinity, which JSON cannot express, become the worst numbers: any other epoch is
/// better.
BestValidation validation_of(int epoch, double score, double loss);

/// What a run needs, besides its tensors, to continue as if it had never been interrupted. The
/// learning rate is a function of the step; the order of the samples, of seed and epoch.
struct TrainingState {
  int epoch = 1;          ///< current epoch, from 1
  std::int64_t step = 0;  ///< steps done over the whole run
  EpochProgress progress;
  std::optional<GradScalerState> scaler;
  std::optional<BestValidation> best;
  int world_size = 1;          ///< when saved; the run may continue with another one
  int devices = 1;             ///< over all ranks when the run began, for --scale-lr
  double runtime_seconds = 0;  ///< of the run so far, over all starts
  Json identity;               ///< run_identity() of the run
};

Json to_json(const TrainingState& state);
/// @param file names the source in errors. @throws Error{malformed_file}, also for counts below 0
/// and for more than kMostSteps in an epoch
TrainingState training_state_from_json(const Json& json, const std::string& file);

}  // namespace hpcboot::train
