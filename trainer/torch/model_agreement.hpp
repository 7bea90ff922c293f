#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "hpcboot/torch/gradient_reducer.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Checks that every rank's module has the same parameters and buffers as rank 0's, and each rank
/// the same options. Collective.
/// @param options one line for each option
/// @param ignored names of parameters and buffers that are not compared
/// @throws Error{invalid_model_use} with the same text on every rank
void require_same_model(const torch::nn::Module& module, const std::vector<std::string>& options,
                        const std::vector<std::string>& ignored, const ProcessGroup& group);

/// Checks that every rank's module has the same parameters and buffers as rank 0's (names, order,
/// shapes, types; without the ignored ones), and every rank the same options. Collective. (c10d's
/// own check throws only on the ranks that differ, and the others hang.)
/// @throws Error{invalid_model_use} with the same text on every rank
void require_same_model(const torch::nn::Module& module,
                        const DistributedDataParallelOptions& options, ProcessGroup& group);

}  // namespace hpcboot
