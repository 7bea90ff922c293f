#pragma once

#include <torch/nn/module.h>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Checks that every rank's module has the same parameters and buffers as rank 0's: names, order,
/// shapes, types. Collective. (c10d's own check throws only on the ranks that differ, and the
/// others hang.)
/// @throws Error{invalid_model_use} with the same text on every rank
void require_same_model(const torch::nn::Module& module, ProcessGroup& group);

}  // namespace hpcboot
