#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loop/checkpoint_file.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::train {

/// What this start trains: a checkpoint is of use if it was written for the same.
struct Configuration {
  Json identity;                           ///< run_identity()
  std::function<TrainingShapes()> shapes;  ///< training_shapes(); called if there is a checkpoint
};

/// A checkpoint that was read, and its path.
struct UsableCheckpoint {
  std::filesystem::path file;
  Checkpoint checkpoint;
};

/// The first of these files that is complete and was written by a run of this configuration. What
/// a file claims to contain is compared with that before it is read.
/// @param notes receives a line for each file that cannot be used
std::optional<UsableCheckpoint> first_usable(const std::vector<std::filesystem::path>& files,
                                             const Configuration& own,
                                             std::vector<std::string>& notes);

/// The option that continues from the best epoch of a run whose other checkpoints cannot be used,
/// and which epoch that is. Empty if best.safetensors cannot be used either.
std::string how_to_take_best(const record::RunFolder& folder, const Configuration& own);

}  // namespace hpcboot::train
