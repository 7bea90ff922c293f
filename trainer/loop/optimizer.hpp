#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <vector>

#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "loop/optimization_options.hpp"

namespace hpcboot::train {

/// The optimizer that the options name, over these parameters.
/// @throws UsageError for an unknown name
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const OptimizationOptions& options);

/// The same, with its state divided among the ranks of a group. Collective.
std::unique_ptr<torch::optim::Optimizer> make_sharded_optimizer(
    const std::vector<at::Tensor>& parameters, const OptimizationOptions& options,
    const ProcessGroup& group);

/// The same for a model whose parameters are divided among the ranks.
std::unique_ptr<torch::optim::Optimizer> make_sharded_optimizer(const ShardUnit& model,
                                                                const OptimizationOptions& options);

/// Applies to all following steps.
void set_learning_rate(torch::optim::Optimizer& optimizer, double rate);

/// Clips the gradients of all parameters together to the norm `limit`; 0: no clipping.
void limit_gradients(const torch::optim::Optimizer& optimizer, double limit);

}  // namespace hpcboot::train
