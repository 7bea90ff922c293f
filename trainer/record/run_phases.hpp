#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// A part of a training step on rank 0, as the epochs sum it up.
struct StepPart {
  const char* name;
  std::optional<double> EpochRecord::*seconds;
};

constexpr std::array<StepPart, 5> kStepParts{
    {{"data", &EpochRecord::data_wait_seconds},
     {"forward", &EpochRecord::forward_seconds},
     {"backward", &EpochRecord::backward_seconds},
     {"exposed communication", &EpochRecord::communication_seconds},
     {"optimizer", &EpochRecord::optimizer_seconds}}};

/// A part of a run's time.
struct Phase {
  std::string name;
  int level = 0;  ///< 0: the launch and the runtime; 1: parts of the runtime; 2: of the training
  std::optional<double> seconds;
};

/// What a run spent its time on. What is not measured is "other", if all else is known. Equal for
/// all runs but for the values.
std::vector<Phase> run_phases(const RunRecord& run);

/// The number of the last step of each epoch, from 1 and over the whole run: at this step curves
/// have the values of the epoch. An epoch whose steps are not recorded counts as one.
std::vector<std::int64_t> last_steps(const std::vector<EpochRecord>& epochs);

}  // namespace hpcboot::record
