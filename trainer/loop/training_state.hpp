#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "hpcboot/torch/grad_scaler_state.hpp"
#include "json/json_reader.hpp"
#include "loop/step_phases.hpp"

namespace hpcboot::train {

// No LibTorch here: what a file says is read, and fuzzed, without it.

/// More than any epoch has: times the images of a batch it is still a number.
constexpr std::int64_t kMostSteps = std::numeric_limits<std::int32_t>::max();

/// How far an epoch has come, and what it has added up.
struct EpochProgress {
  /// Of the optimizer. So many global batches of the epoch's permutation are behind the run,
  /// whatever the number of ranks was.
  std::int64_t steps = 0;
  double loss_sum = 0;  ///< over all ranks
  double loss_images = 0;
  std::int64_t images_seen = 0;
  double train_seconds = 0;
  double data_wait_seconds = 0;
  StepPhases phases;
  std::int64_t skipped_before = 0;  ///< GradScaler's count when the epoch began
};

/// The best epoch so far: the highest accuracy, of equal ones the lower loss.
struct BestValidation {
  int epoch = 0;
  double accuracy = 0;
  double loss = 0;

  bool is_beaten_by(const BestValidation& other) const {
    return other.accuracy > accuracy || (other.accuracy == accuracy && other.loss < loss);
  }
};

/// What a run needs to go on as if it had never ended, but for its tensors. The learning rate is a
/// function of the step, the order of the samples one of seed and epoch.
struct TrainingState {
  int epoch = 1;          ///< under way, from 1
  std::int64_t step = 0;  ///< done so far, over the whole run
  EpochProgress progress;
  std::optional<GradScalerState> scaler;
  std::optional<BestValidation> best;
  int world_size = 1;          ///< that saved it; another one may go on
  int devices = 1;             ///< over all ranks when the run began: --scale-lr goes by them
  double runtime_seconds = 0;  ///< of the run so far, all its starts together
  Json identity;               ///< run_identity() of the run
};

Json to_json(const TrainingState& state);
/// @param file names the source in errors. @throws Error{malformed_file}, also for counts below 0
/// and for more than kMostSteps in an epoch
TrainingState training_state_from_json(const Json& json, const std::string& file);

}  // namespace hpcboot::train
