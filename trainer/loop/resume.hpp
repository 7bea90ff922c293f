#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loop/checkpoint_file.hpp"
#include "loop/train_options.hpp"
#include "loop/usable_checkpoint.hpp"
#include "record/run_folder.hpp"
#include "record/run_lock.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// The run to resume, and from where.
struct ResumePoint {
  record::RunFolder folder;
  record::RunLock lock;
  bool has_locks = true;     ///< whether the folder's file system supports locks
  record::RunRecord record;  ///< with the epochs before the checkpoint only
  std::filesystem::path file;
  Checkpoint checkpoint;
  /// Whether `file` is not the newest checkpoint of the run: later ones exist, damaged or not
  /// wanted, or the best one is the only one.
  bool goes_back = false;
  /// The checkpoint that this start took by name, as --resume has it; empty if it took the newest.
  std::string went_back_to;
  /// Steps in metrics.csv after the checkpoint: they are lost. Those of the last second may not be
  /// in it.
  std::optional<std::int64_t> steps_again;
};

/// Finds what --resume requests and takes the run's lock; for rank 0. If `auto` has several
/// candidates, runs of this job come first, then the newest: a requeued job finds its own run.
/// @param options with `resume` not empty
/// @param self the process that will hold the folder
/// @param notes receives a line for everything worth reporting, such as a damaged checkpoint
/// @return nothing if --resume auto finds no run to continue
/// @throws UsageError if the run is finished or was configured differently;
///         Error{unreadable_file, malformed_file} for a run or checkpoints that cannot be read,
///         the former also if no run has what --resume best requests;
///         Error{run_in_use}; Error{unwritable_output}
std::optional<ResumePoint> find_resume_point(const TrainOptions& options, const Configuration& own,
                                             const record::LockHolder& self,
                                             std::vector<std::string>& notes);

}  // namespace hpcboot::train
