#pragma once

#include <torch/types.h>

#include "datasets/batch_loader.hpp"
#include "loop/parallel_model.hpp"
#include "loop/team.hpp"

namespace hpcboot::train {

struct Validation {
  double loss = 0;      ///< mean over the samples
  double accuracy = 0;  ///< 0..1
  double seconds = 0;
};

/// The model's loss and accuracy on a whole set. The ranks share the samples without repeating any,
/// and all of them validate rank 0's model, batch-norm statistics included. Collective.
Validation validate(ParallelModel& model, const data::Dataset& set, std::int64_t local_batch,
                    std::int64_t image_size, Team& team);

/// A batch as tensors on a device. On the CPU they refer to the batch's memory.
std::pair<torch::Tensor, torch::Tensor> tensors_of(data::Batch& batch, std::int64_t image_size,
                                                   torch::Device device);

}  // namespace hpcboot::train
