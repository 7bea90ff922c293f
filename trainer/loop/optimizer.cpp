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
namespace {

/// Whether these are parts of a model on a GPU, and Adam can take a step in one pass over them.
/// Other parameters on the CPU take torch::optim's steps: all elements of a tensor are rounded
/// alike, wherever they are, so that models train alike in shards and whole.
bool is_for_a_gpu(const std::vector<at::Tensor>& parameters) {
  return !parameters.empty() && parameters.front().is_pinned() &&
         has_fused_kernel("aten::_fused_adam_", torch::kCPU);
}

}  // namespace

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const OptimizationOptions& o) {
  const double decay = o.resolved_weight_decay();
  const bool cuda = !parameters.empty() && parameters.front().is_cuda();
  const bool fused = cuda || is_for_a_gpu(parameters);
  if (o.optimizer == "adam") {
    const auto options = torch::optim::AdamOptions(o.lr).weight_decay(decay);
    if (fused) return std::make_unique<FusedAdam>(parameters, options);
    return std::make_unique<torch::optim::Adam>(parameters, options);
  }
  if (o.optimizer == "adamw") {
    const auto options = torch::optim::AdamWOptions(o.lr).weight_decay(decay);
    if (fused) return std::make_unique<FusedAdamW>(parameters, options);
    return std::make_unique<torch::optim::AdamW>(parameters, options);
  }
  if (o.optimizer == "sgd") {
    const auto options = torch::optim::SGDOptions(o.lr).momentum(o.momentum).weight_decay(decay);
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
