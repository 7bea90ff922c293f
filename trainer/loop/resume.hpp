#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loop/checkpoint_file.hpp"
#include "loop/train_options.hpp"
#include "record/run_folder.hpp"
#include "record/run_lock.hpp"
#include "record/run_record.hpp"

namespace hpcboot::train {

/// A run that goes on, and from where.
struct ResumePoint {
  record::RunFolder folder;
  record::RunLock lock;
  bool has_locks = true;     ///< whether the folder's file system has them
  record::RunRecord record;  ///< with the epochs before the checkpoint only
  std::filesystem::path file;
  Checkpoint checkpoint;
  /// Whether `file` is not the newest checkpoint of the run: later ones, damaged or not wanted, are
  /// there, or none but the best.
  bool goes_back = false;
  /// That metrics.csv has after the checkpoint: they are lost. The last second's are not in it.
  std::optional<std::int64_t> steps_again;
};

/// Finds what --resume asks for and takes its lock; for rank 0. Of several runs that `auto` could
/// take, those of this job come first, then the newest: a job that is queued again finds its own.
/// @param options with `resume` not empty
/// @param identity run_identity() of this start
/// @param self who is to hold the folder
/// @param notes gets a line for everything worth telling, such as a damaged checkpoint
/// @return nothing where --resume auto finds no run to go on with
/// @throws UsageError where the run is finished or was configured differently;
///         Error{unreadable_file, malformed_file} for a run or checkpoints that cannot be read,
///         the former also if no run has what --resume best asks for;
///         Error{run_in_use}; Error{unwritable_output}
std::optional<ResumePoint> find_resume_point(const TrainOptions& options, const Json& identity,
                                             const record::LockHolder& self,
                                             std::vector<std::string>& notes);

}  // namespace hpcboot::train
