#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>

#include "loop/background_writer.hpp"
#include "loop/checkpoint_file.hpp"

namespace hpcboot::train {

/// What a checkpoint is for.
struct CheckpointKind {
  bool regular = true;  ///< counts as one of the newest
  bool best = false;    ///< becomes the best
};

/// Copies tensors to the CPU. Reuses the memory of `copy`, the previous checkpoint, if it fits.
void copy_tensors(const std::vector<NamedTensor>& live, std::vector<NamedTensor>& copy);

/// Writes checkpoints while training continues: the training thread waits only for a copy of the
/// tensors in memory, and for the previous checkpoint if that is still being written, so that there
/// is never more than one copy, whose memory is reused.
class CheckpointWriter {
 public:
  /// @param keep how many of the newest checkpoints to keep
  /// @param metrics the run's metrics.csv, which is synced to disk before each checkpoint, so that
  ///        the rows of the steps before a checkpoint survive a power cut; empty: none
  /// @throws Error{unwritable_output}
  CheckpointWriter(std::filesystem::path folder, std::size_t keep,
                   std::filesystem::path metrics = {});
  /// Copies the tensors, and starts writing them.
  /// @throws Error{unwritable_output} of an earlier checkpoint
  void save(const TrainingState& state, const std::vector<NamedTensor>& live, CheckpointKind kind);

  /// Rethrows the failure of the writing thread since the last call.
  void check() { writer_.check(); }

  /// Waits until everything is on disk.
  /// @throws Error{unwritable_output}
  void finish() { writer_.finish(); }
  bool finish(std::chrono::milliseconds limit) { return writer_.finish(limit); }

  /// The longest time that writing a checkpoint has taken, in seconds; 0 before the first.
  double longest_save_seconds() const { return writer_.longest_seconds(); }
  /// The total time that the training thread has waited in save() and finish(), in seconds.
  double waited_seconds() const { return writer_.waited_seconds() + copying_; }
  /// The newest checkpoint on disk; empty before the first.
  std::filesystem::path newest() const;

 private:
  void write(CheckpointKind kind);

  const std::filesystem::path folder_;
  const std::size_t keep_;
  const std::filesystem::path metrics_;
  double copying_ = 0;        ///< seconds
  Checkpoint copy_;           // the writing thread's, while it is not idle
  mutable std::mutex mutex_;  // guards newest_
  std::filesystem::path newest_;
  BackgroundWriter writer_;  // last: it uses the others until it ends
};

}  // namespace hpcboot::train
