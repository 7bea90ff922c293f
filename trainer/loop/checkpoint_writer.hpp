#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "loop/checkpoint_file.hpp"

namespace hpcboot::train {

/// Writes checkpoints on a thread of its own while training goes on: the training thread waits for
/// a copy of the tensors in memory only, and for the checkpoint before if that is still being
/// written, so that there are never more than one copy, whose memory is used again.
class CheckpointWriter {
 public:
  struct Kind {
    bool regular = true;  ///< counts among the newest ones
    bool best = false;    ///< becomes the best one
  };

  /// @param keep how many of the newest stay
  /// @param metrics the run's metrics.csv, which is put on the disk before each checkpoint, so that
  ///        a power cut leaves the rows of the steps that a checkpoint counts; empty: none
  /// @throws Error{unwritable_output}
  CheckpointWriter(std::filesystem::path folder, std::size_t keep,
                   std::filesystem::path metrics = {});
  /// Waits for what is being written; a failure is told by check() and finish() only.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Copies the tensors, and has them written.
  /// @throws Error{unwritable_output} of an earlier one
  void save(const TrainingState& state, const std::vector<NamedTensor>& live, Kind kind);

  /// Throws what the thread met with since it was last asked.
  void check();

  /// Waits until everything is on the disk.
  /// @throws Error{unwritable_output}
  void finish();

  /// The longest that a save has taken, from the call to the disk, in seconds; 0 before the first.
  double longest_save_seconds() const;
  /// How long the training thread has waited in save() and finish() altogether, in seconds.
  double waited_seconds() const { return waited_; }
  /// The newest one that is on the disk; empty before.
  std::filesystem::path newest() const;

 private:
  void work();
  void write(Kind kind);
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  const std::filesystem::path folder_;
  const std::size_t keep_;
  const std::filesystem::path metrics_;
  double waited_ = 0;

  mutable std::mutex mutex_;  // guards what follows, up to thread_
  std::condition_variable changed_;
  Checkpoint copy_;  // the thread's alone while kind_ is set
  std::optional<Kind> kind_;
  std::exception_ptr failure_;
  std::filesystem::path newest_;
  double longest_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hpcboot::train
