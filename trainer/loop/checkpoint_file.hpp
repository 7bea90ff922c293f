#pragma once

#include <filesystem>
#include <vector>

#include "loop/training_state.hpp"
#include "loop/training_tensors.hpp"

namespace hpcboot::train {

/// All that a run needs to go on.
struct Checkpoint {
  TrainingState state;
  std::vector<NamedTensor> tensors;  ///< training_tensors(), on the CPU and contiguous
};

/// Writes a safetensors file, which appears whole or not at all: the tensors, and in the metadata
/// the state as JSON and a checksum of every byte.
/// @throws Error{unwritable_output}
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file);

/// @throws Error{unreadable_file}; Error{malformed_file} for a file that is no checkpoint, was cut
///         short, or whose bytes are not those that were written
Checkpoint read_checkpoint(const std::filesystem::path& file);

}  // namespace hpcboot::train
