#pragma once

#include <torch/types.h>

#include "datasets/samples.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

/// The examples of a batch on the device. On the CPU, they share the batch's memory, unless the
/// task has changed them; on a GPU, the copies have been started from separate memory, so the batch
/// can be reused.
/// @param type of floating-point targets
tasks::Example example_of(data::Batch& batch, const tasks::Task& task, torch::Device device,
                          torch::ScalarType type);

}  // namespace hpcboot::train
