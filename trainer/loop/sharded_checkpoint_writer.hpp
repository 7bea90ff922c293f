#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>

#include "loop/background_writer.hpp"
#include "loop/checkpoint_writer.hpp"
#include "loop/communicator.hpp"
#include "loop/training_state.hpp"

namespace hpcboot::train {

/// Writes checkpoints of which each rank writes a part, while training continues. A checkpoint
/// exists once all ranks have written their parts and complete() was called.
class ShardedCheckpointWriter {
 public:
  /// @param folder of the checkpoints, which all ranks see
  /// @param keep how many of the newest checkpoints to keep
  /// @param metrics as for CheckpointWriter
  /// @throws Error{unwritable_output}
  ShardedCheckpointWriter(std::filesystem::path folder, std::size_t keep,
                          std::filesystem::path metrics, Communicator& communicator);

  /// Rank 0 creates the folder in which the parts are written. Collective.
  /// @throws Error{unwritable_output}
  void prepare(const TrainingState& state, CheckpointKind kind);

  /// Copies this rank's tensors, and starts writing them.
  void write(const CheckpointShare& share);

  /// Whether a checkpoint is to be completed, and this rank has written its part.
  bool is_written() const { return pending_ && writer_.is_idle(); }
  bool is_pending() const { return pending_.has_value(); }

  /// Called on every rank once all of them have written their parts. Rank 0 starts making it a
  /// checkpoint.
  void complete();

  /// Waits until what this rank has started is on disk, as BackgroundWriter::finish().
  /// @throws Error{unwritable_output, unreadable_file}
  bool finish(std::chrono::milliseconds limit) { return writer_.finish(limit); }
  /// Rethrows the failure of writing since the last call.
  void check() { writer_.check(); }

  double longest_save_seconds() const { return writer_.longest_seconds(); }
  double waited_seconds() const { return writer_.waited_seconds() + copying_; }
  /// The newest checkpoint; empty before the first, and on all ranks but rank 0.
  std::filesystem::path newest() const;

 private:
  struct Save {
    TrainingState state;
    CheckpointKind kind;
    std::filesystem::path written;  ///< the hidden folder
    std::filesystem::path folder;   ///< what it becomes
  };

  void complete(const Save& save);

  const std::filesystem::path folder_;
  const std::size_t keep_;
  const std::filesystem::path metrics_;
  Communicator& communicator_;
  double copying_ = 0;
  std::optional<Save> pending_;
  CheckpointShare copy_;  // the writing thread's, while it is not idle
  mutable std::mutex mutex_;
  std::filesystem::path newest_;  // guarded by mutex_
  BackgroundWriter writer_;       // last: it uses the others until it ends
};

}  // namespace hpcboot::train
