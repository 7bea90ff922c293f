#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "loop/communicator.hpp"
#include "loop/parallel_model.hpp"
#include "record/measure.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

struct Validation {
  double loss = 0;  ///< mean over the samples
  std::vector<record::Measure> measures;
  double seconds = 0;
};

/// The model's loss and measures on the task's whole validation set. The ranks divide the samples
/// without repeating any, and all of them validate rank 0's model, including its batch-norm
/// statistics. Collective.
/// @param micro_batch samples per pass, which bound the memory
/// @param loader_threads with which this rank loads the samples of passes
/// @param interrupted called after each pass, equally often on all ranks, with its duration
/// @return nothing if it was interrupted
std::optional<Validation> validate(ParallelModel& model, const tasks::Task& task,
                                   std::int64_t micro_batch, int loader_threads,
                                   Communicator& communicator,
                                   const std::function<bool(double seconds)>& interrupted);

}  // namespace hpcboot::train
