#pragma once

#include <torch/nn/module.h>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Checks that every rank's module has the parameters and buffers of rank 0's: names, order,
/// shapes, types. Collective. (c10d's own check speaks on the ranks that differ only, and the rest
/// hangs.)
/// @throws Error{invalid_model_use} with the same text on every rank
void require_same_model(const torch::nn::Module& module, ProcessGroup& group);

}  // namespace hpcboot
