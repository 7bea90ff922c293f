#pragma once

#include <filesystem>
#include <vector>

#include "loop/training_state.hpp"
#include "loop/training_tensors.hpp"

namespace hpcboot::train {

/// Everything that a run needs to continue.
struct Checkpoint {
  TrainingState state;
  std::vector<NamedTensor> tensors;  ///< training_tensors(), on the CPU and contiguous
};

/// Writes a safetensors file atomically: the tensors, and in the metadata the state as JSON and a
/// checksum of all of it.
/// @throws Error{unwritable_output}
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file);

/// @throws Error{unreadable_file}; Error{malformed_file} for a file that is not a checkpoint, is
///         truncated, or does not match its checksum
Checkpoint read_checkpoint(const std::filesystem::path& file);

}  // namespace hpcboot::train
