#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loop/training_state.hpp"
#include "loop/training_tensors.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::train {

/// Everything that a run needs to continue.
struct Checkpoint {
  TrainingState state;
  std::vector<NamedTensor> tensors;  ///< training_tensors(), on the CPU and contiguous
  /// Of a sharded checkpoint, the folder, from which each rank reads its tensors: `tensors` is
  /// empty then.
  std::filesystem::path folder{};
};

/// Writes a safetensors file atomically: the tensors, and in the metadata the state as JSON and a
/// checksum of all of it.
/// @throws Error{unwritable_output}
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file);

/// Whether a safetensors file with this metadata is one.
bool is_checkpoint(const std::map<std::string, std::string>& metadata);

/// The notes with which complete_checkpoint() makes a folder a checkpoint of a run.
std::map<std::string, std::string> notes_of(const TrainingState& state);

/// Examines a checkpoint whose tensors are not read yet; of a sharded one it sees none of them.
/// Throws if the checkpoint is of no use.
using Examine =
    std::function<void(const TrainingState&, const std::vector<record::TensorInfo>& tensors)>;

/// @param file or the folder of a sharded checkpoint, of which all files are compared with their
///        checksums
/// @param examine is called before memory for the tensors is allocated; may be empty
/// @throws Error{unreadable_file}; Error{malformed_file} for a file that is not a checkpoint, is
///         truncated, or does not match its checksum; and what `examine` throws
Checkpoint read_checkpoint(const std::filesystem::path& file, const Examine& examine = {});

/// The state of a checkpoint that is one file. The checksum, which is also that of the tensors, is
/// not compared.
/// @throws as read_checkpoint()
TrainingState read_state(const std::filesystem::path& file);

}  // namespace hpcboot::train
