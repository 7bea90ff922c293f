#pragma once

#include <functional>
#include <optional>

#include "datasets/dataset.hpp"
#include "loop/communicator.hpp"
#include "loop/parallel_model.hpp"

namespace hpcboot::train {

struct Validation {
  double loss = 0;      ///< mean over the samples
  double accuracy = 0;  ///< 0..1
  double seconds = 0;
};

/// The model's loss and accuracy on a whole set. The ranks divide the samples without repeating
/// any, and all of them validate rank 0's model, including its batch-norm statistics. Collective.
/// @param interrupted called after each batch, equally often on all ranks, with its duration
/// @return nothing if it was interrupted
std::optional<Validation> validate(ParallelModel& model, const data::Dataset& set,
                                   std::int64_t local_batch, std::int64_t image_size,
                                   Communicator& communicator,
                                   const std::function<bool(double seconds)>& interrupted);

}  // namespace hpcboot::train
