#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <vector>

#include "loop/optimization_options.hpp"

namespace hpcboot::train {

/// The optimizer that the options name, over these parameters.
/// @throws UsageError for an unknown name
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const OptimizationOptions& options);

/// For all steps that follow.
void set_learning_rate(torch::optim::Optimizer& optimizer, double rate);

/// Shortens the gradients of all parameters together to a norm of `limit` where they are longer;
/// 0: never.
void limit_gradients(const torch::optim::Optimizer& optimizer, double limit);

}  // namespace hpcboot::train
