#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loop/checkpoint_file.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::train {

/// A checkpoint that was read, and where it lies.
struct UsableCheckpoint {
  std::filesystem::path file;
  Checkpoint checkpoint;
};

/// The first of these files that was written whole, by a run of this configuration.
/// @param identity run_identity() of this start
/// @param notes gets a line for each file that is left out
std::optional<UsableCheckpoint> first_usable(const std::vector<std::filesystem::path>& files,
                                             const Json& identity, std::vector<std::string>& notes);

/// The option that goes on from the best epoch of a run whose other checkpoints cannot be used, and
/// where that is. Empty if best.safetensors cannot be used either.
std::string how_to_take_best(const record::RunFolder& folder, const Json& identity);

}  // namespace hpcboot::train
