#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// An optimizer whose state is divided among the ranks of a group: each rank updates one part of
/// the parameters, with the averages of that part only, and receives the others (ZeRO-1:
/// Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020;
/// in PyTorch ZeroRedundancyOptimizer). Adam's averages take twice the memory of the parameters;
/// with W ranks, a W-th of it. For models with equal parameters and gradients on all ranks, as
/// DistributedDataParallel leaves them:
///
///     hpcboot::DistributedDataParallel ddp(Net(), group);
///     hpcboot::ShardedOptimizer optimizer(ddp.module()->parameters(), group, [](auto groups) {
///       return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(1e-3));
///     });
///     …
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();  // on every rank
///
/// Takes Adam, AdamW, SGD, Adagrad and RMSprop of torch::optim, and optimizers with their state
/// that treat each element alone, which norms of whole parameters (LARS, LAMB) do not. A parameter
/// keeps its identity, shape, strides and values; its memory becomes a part of a larger tensor, so
/// do not move or convert the module afterwards. Learning rates and other options are changed in
/// param_groups(), as of any optimizer. Every rank must take every step: not for ranks that Join.
class ShardedOptimizer : public torch::optim::Optimizer {
 public:
  using Groups = std::vector<torch::optim::OptimizerParamGroup>;
  /// Makes the optimizer of this rank's part, whose groups are in the order of the caller's. Also
  /// called with groups of one element, to see what the optimizer keeps.
  using Make = std::function<std::unique_ptr<torch::optim::Optimizer>(Groups groups)>;

  /// Every rank passes the same parameters, with the same values, in the same order.
  /// @throws Error{invalid_model_use} for an optimizer other than those above, and for sparse or
  ///         repeated parameters
  ShardedOptimizer(std::vector<at::Tensor> parameters, const ProcessGroup& group, const Make& make);
  ShardedOptimizer(Groups groups, const ProcessGroup& group, const Make& make);
  /// For a module that fully_shard() has returned: of all its trained parameters, or of groups of
  /// them. Its gradients are divided as well: param_groups() has this rank's pieces.
  ShardedOptimizer(const ShardUnit& model, const Make& make);
  ShardedOptimizer(const Groups& groups, const ShardUnit& model, const Make& make);
  ~ShardedOptimizer() override;
  ShardedOptimizer(ShardedOptimizer&&) = delete;

  /// Collective. Parameters without a gradient are left as they are; they must be the same on
  /// every rank.
  /// @throws Error{invalid_model_use} for a sparse gradient, and if parameters were added since;
  ///         Error{peer_lost, deadline_exceeded, invalid_collective}
  at::Tensor step(LossClosure closure = nullptr) override;

  /// The optimizer of this rank's part.
  const torch::optim::Optimizer& local() const;

  /// Bytes of this rank's part of the state.
  std::int64_t state_bytes() const;

  /// Collective. Collects the state of all parameters in state() of rank `root`, as an optimizer
  /// without shards would have it, but on the CPU: for a checkpoint, which any number of ranks can
  /// read. Takes the memory of the whole state there, until release_state().
  void gather_state(int root = 0);
  void release_state();

  /// Takes this rank's part from state(), in which the caller has put the state of all parameters,
  /// on any device. Not collective.
  void scatter_state();

  /// Not supported: a checkpoint takes what gather_state() collects.
  /// @throws Error{invalid_model_use}
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 private:
  friend struct ShardedOptimizerAccess;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpcboot
