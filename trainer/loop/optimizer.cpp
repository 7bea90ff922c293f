#include "loop/optimizer.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
// Must come last: clip_grad.h does not include what it uses.
#include <torch/nn/utils/clip_grad.h>

#include "hpcboot/torch/sharded_optimizer.hpp"
#include "loop/fused_optimizers.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const OptimizationOptions& o) {
  const double decay = o.resolved_weight_decay();
  if (o.optimizer == "adam") {
    return std::make_unique<FusedAdam>(parameters,
                                       torch::optim::AdamOptions(o.lr).weight_decay(decay));
  }
  if (o.optimizer == "adamw") {
    return std::make_unique<FusedAdamW>(parameters,
                                        torch::optim::AdamWOptions(o.lr).weight_decay(decay));
  }
  if (o.optimizer == "sgd") {
    const auto options = torch::optim::SGDOptions(o.lr).momentum(o.momentum).weight_decay(decay);
    // Not on the CPU, where LibTorch's kernel rounds elements by their place.
    const bool cuda = !parameters.empty() && parameters.front().is_cuda();
    if (cuda && has_fused_kernel("aten::_fused_sgd_", torch::kCUDA)) {
      return std::make_unique<FusedSgd>(parameters, options);
    }
    return std::make_unique<torch::optim::SGD>(parameters, options);
  }
  throw UsageError("--optimizer is '" + o.optimizer + "'; it takes adam|adamw|sgd");
}

std::unique_ptr<torch::optim::Optimizer> make_sharded_optimizer(
    const std::vector<at::Tensor>& parameters, const OptimizationOptions& options,
    const ProcessGroup& group) {
  return std::make_unique<ShardedOptimizer>(
      parameters, group, [&](const ShardedOptimizer::Groups& groups) {
        return make_optimizer(groups.front().params(), options);
      });
}

std::unique_ptr<torch::optim::Optimizer> make_sharded_optimizer(
    const ShardUnit& model, const OptimizationOptions& options) {
  return std::make_unique<ShardedOptimizer>(model, [&](const ShardedOptimizer::Groups& groups) {
    return make_optimizer(groups.front().params(), options);
  });
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    group.options().set_lr(rate);
  }
}

void limit_gradients(const torch::optim::Optimizer& optimizer, double limit) {
  if (limit <= 0) return;
  std::vector<at::Tensor> parameters;
  for (const torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    parameters.insert(parameters.end(), group.params().begin(), group.params().end());
  }
  torch::nn::utils::clip_grad_norm_(parameters, limit);
}

}  // namespace hpcboot::train
