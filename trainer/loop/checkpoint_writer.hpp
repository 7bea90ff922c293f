#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "loop/checkpoint_file.hpp"

namespace hpcboot::train {

/// Writes checkpoints on its own thread while training continues: the training thread waits only
/// for a copy of the tensors in memory, and for the previous checkpoint if that is still being
/// written, so that there is never more than one copy, whose memory is reused.
class CheckpointWriter {
 public:
  struct Kind {
    bool regular = true;  ///< counts as one of the newest
    bool best = false;    ///< becomes the best
  };

  /// @param keep how many of the newest checkpoints to keep
  /// @param metrics the run's metrics.csv, which is synced to disk before each checkpoint, so that
  ///        the rows of the steps before a checkpoint survive a power cut; empty: none
  /// @throws Error{unwritable_output}
  CheckpointWriter(std::filesystem::path folder, std::size_t keep,
                   std::filesystem::path metrics = {});
  /// Waits for the checkpoint being written; only check() and finish() report a failure.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Copies the tensors, and starts writing them.
  /// @throws Error{unwritable_output} of an earlier checkpoint
  void save(const TrainingState& state, const std::vector<NamedTensor>& live, Kind kind);

  /// Rethrows the failure of the writing thread since the last call.
  void check();

  /// Waits until everything is on disk.
  /// @throws Error{unwritable_output}
  void finish();

  /// The longest time that writing a checkpoint has taken, in seconds; 0 before the first.
  double longest_save_seconds() const;
  /// The total time that the training thread has waited in save() and finish(), in seconds.
  double waited_seconds() const { return waited_; }
  /// The newest checkpoint on disk; empty before the first.
  std::filesystem::path newest() const;

 private:
  void work();
  void write(Kind kind);
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  const std::filesystem::path folder_;
  const std::size_t keep_;
  const std::filesystem::path metrics_;
  double waited_ = 0;

  mutable std::mutex mutex_;  // guards the members below, up to thread_
  std::condition_variable changed_;
  Checkpoint copy_;  // owned by the thread while kind_ is set
  std::optional<Kind> kind_;
  std::exception_ptr failure_;
  std::filesystem::path newest_;
  double longest_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hpcboot::train
