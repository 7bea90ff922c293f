#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/ordered_dict.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpcboot/torch/module_wrapper.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "hpcboot/torch/tensors.hpp"

namespace hpcboot {

class ParameterUnit;
class UnitSchedule;

struct FullyShardOptions {
  /// Free the parameters of a unit after its forward pass, and gather them again for its backward
  /// pass (ZeRO-3). If not, they stay whole until the end of its backward pass (ZeRO-2): one
  /// gather less, for the memory of all parameters. Those of the outermost module always stay.
  bool reshard_after_forward = true;
  /// Gather the parameters of the next unit while one is running.
  bool prefetch = true;
  /// Broadcast rank 0's buffers at each forward in training.
  bool broadcast_buffers = true;
  /// The type in which the module computes, such as at::kBFloat16: parameters are gathered in it,
  /// and tensors that a unit's forward takes are converted to it. The shards, which the optimizer
  /// changes, keep the type of the parameters.
  std::optional<at::ScalarType> compute_type;
  /// The type in which gradients are averaged; without it, the one in which they are computed.
  std::optional<at::ScalarType> reduce_type;
  /// Keep the shards, their gradients, and so the optimizer's state in host memory, for a module on
  /// another device, which then holds only the parameters that are gathered: the optimizer steps on
  /// the CPU (Ren et al., ZeRO-Offload: Democratizing Billion-Scale Model Training, 2021). The
  /// memory is pinned for CUDA devices.
  bool offload_to_host = false;
};

/// Keeps parameters whole, to read them, and for forward passes of which the ranks make different
/// numbers, as in validation. Freed by the destructor. Not for training.
class WholeParameters {
 public:
  explicit WholeParameters(std::shared_ptr<UnitSchedule> schedule);
  ~WholeParameters();
  WholeParameters(WholeParameters&& other) noexcept = default;
  WholeParameters& operator=(WholeParameters&&) = delete;

 private:
  std::shared_ptr<UnitSchedule> schedule_;
};

/// During its lifetime, backward passes keep the gradients on their rank.
class NoReduction {
 public:
  explicit NoReduction(std::shared_ptr<UnitSchedule> schedule);
  ~NoReduction();
  NoReduction(NoReduction&& other) noexcept = default;
  NoReduction& operator=(NoReduction&&) = delete;

 private:
  std::shared_ptr<UnitSchedule> schedule_;
  bool before_;
};

/// The part of a shardable module that does not depend on its type.
class ShardUnit : public ModuleWrapper {
 public:
  /// Once sharded, gradients are those of this rank's shards.
  void zero_grad(bool set_to_none = false) override;
  /// @throws Error{invalid_model_use} once sharded: see gather_parameters()
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

  /// Whether the parameters are divided among ranks.
  bool is_sharded() const { return unit_ != nullptr; }
  /// Whether fully_shard() has returned this one.
  bool is_outermost() const { return is_root_; }

  // The following need a module that fully_shard() has returned; otherwise they throw
  // Error{invalid_model_use}. All that communicate are collective.

  /// This rank's parts of the trained parameters, of one dimension each, for an optimizer that
  /// treats each element alone. ShardedOptimizer is one that can also collect its state.
  std::vector<at::Tensor> shards() const;
  /// Bytes of this rank's shards, of parameters trained or not.
  std::int64_t shard_bytes() const;
  /// Makes all parameters whole, in the compute type, during the lifetime of the result.
  /// Collective.
  [[nodiscard]] WholeParameters keep_whole();
  /// For gradient accumulation: during the lifetime of the result, backward passes add to whole
  /// gradients of this rank, which take their memory. The first one after it averages the sum.
  [[nodiscard]] NoReduction no_sync();
  /// Scales the gradients so that their norm over all parameters is at most `max_norm`. Collective.
  /// @return their norm before: L2
  double clip_grad_norm(double max_norm);
  /// Collects the whole parameters on rank `root`, on the CPU, in the type of the shards, by their
  /// names in this module. Empty on the other ranks. Collective.
  torch::OrderedDict<std::string, at::Tensor> gather_parameters(int root = 0) const;
  /// Sets the parameters. Each rank passes all of them, whole. Not collective.
  /// @throws Error{invalid_model_use} if one is missing or has another shape
  void scatter_parameters(const torch::OrderedDict<std::string, at::Tensor>& parameters);
  /// Seconds that this rank has waited for other ranks in forward and backward passes.
  double seconds_waited() const;

  /// For ShardedOptimizer.
  const std::shared_ptr<UnitSchedule>& schedule() const;

 protected:
  using ModuleWrapper::ModuleWrapper;

  /// One call of forward.
  class Pass {
   public:
    explicit Pass(ShardUnit& unit);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// The argument to pass in place of this one.
    template <typename Argument>
    decltype(auto) input(Argument&& argument) {
      using Plain = std::decay_t<Argument>;
      if constexpr (std::is_same_v<Plain, at::Tensor>) {
        return watched(argument);
      } else if constexpr (holds_tensors<Plain>) {
        Plain copy(std::forward<Argument>(argument));
        for_each_tensor(copy, [this](at::Tensor& tensor) {
          if (tensor.defined()) tensor = watched(tensor);
        });
        return copy;
      } else {
        return std::forward<Argument>(argument);
      }
    }
    void end(const std::vector<at::Tensor>& outputs);

   private:
    at::Tensor watched(const at::Tensor& tensor);

    ShardUnit& unit_;
  };

 private:
  friend void fully_shard_module(ShardUnit& root, const ProcessGroup& group,
                                 const FullyShardOptions& options);

  std::shared_ptr<ParameterUnit> unit_;
  std::shared_ptr<UnitSchedule> schedule_;
  bool is_root_ = false;
  bool buffers_due_ = true;
};

/// Collective. Divides the parameters of a module and of the units in it among the ranks.
void fully_shard_module(ShardUnit& root, const ProcessGroup& group,
                        const FullyShardOptions& options);

namespace shard_detail {

template <typename Inner>
class Runner : public ShardUnit {
 public:
  /// The module within.
  const std::shared_ptr<Inner>& module() const { return module_; }

  template <typename... Arguments>
  auto operator()(Arguments&&... arguments) {
    if (!this->is_sharded()) return module_->forward(std::forward<Arguments>(arguments)...);
    Pass pass(*this);
    auto output = module_->forward(pass.input(std::forward<Arguments>(arguments))...);
    pass.end(tensors_of(output));
    return output;
  }

 protected:
  explicit Runner(std::shared_ptr<Inner> module) : ShardUnit(module), module_(std::move(module)) {}

 private:
  std::shared_ptr<Inner> module_;
};

template <typename Inner>
using Base = typename wrapper_detail::ForwardOf<Runner<Inner>, Inner>::Type;

}  // namespace shard_detail

/// A module whose parameters can be divided among ranks; used as the module itself. Call it with
/// (*unit)(…) where forward has default arguments.
template <typename Inner>
class ShardUnitOf : public shard_detail::Base<Inner> {
 public:
  explicit ShardUnitOf(std::shared_ptr<Inner> module)
      : shard_detail::Base<Inner>(std::move(module)) {}
};

/// Marks a part of a model, such as a layer of a Transformer, whose parameters fully_shard() of the
/// model will gather and free together. Without fully_shard(), it does nothing, so that a model
/// that is written with it trains in any other way, too. Parameters that two units share must
/// belong to what contains both.
/// @param module a module holder (TORCH_MODULE) or a std::shared_ptr to a module
template <typename Module>
auto shard_unit(const Module& module) {
  const auto inner = wrapper_detail::pointer_to(module);
  return std::make_shared<ShardUnitOf<typename decltype(inner)::element_type>>(inner);
}

/// Divides the parameters, gradients and optimizer state of a module among the ranks of a group,
/// like PyTorch's function of this name (ZeRO-3: Rajbhandari et al., 2020; Zhao et al., PyTorch
/// FSDP, 2023). Each rank keeps a W-th of each; the parameters of a unit are gathered before it
/// runs, a unit ahead, and freed after it, and its gradients are averaged as soon as they are
/// computed. Training equals DistributedDataParallel.
///
///     struct Net : torch::nn::Module {
///       Net() {
///         for (int i = 0; i < 12; ++i) layers->push_back(hpcboot::shard_unit(Layer(768)));
///         register_module("layers", layers);
///       }
///       …
///     };
///     auto model = hpcboot::fully_shard(std::make_shared<Net>(), group);
///     hpcboot::ShardedOptimizer optimizer(*model, [](auto groups) {
///       return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(1e-3));
///     });
///     loss_of(model->forward(x)).backward();
///     optimizer.step();
///
/// Collective: every rank calls it with the same module, on its device; the parameters become rank
/// 0's. The units are those of shard_unit(); the rest of the module is one more. It may contain
/// modules that were sharded before, with other options. The ranks must run the same units in the
/// same order. Between passes, a parameter has no elements, and its gradient is in shards().
/// @throws Error{invalid_model_use} on every rank, if the ranks' models or options differ, or units
///         share a parameter; Error{peer_lost, deadline_exceeded}. forward and backward throw
///         those, too: for parameters that were moved or converted, for a unit of which a backward
///         pass reached only some trained parameters, and for create_graph
template <typename Module>
auto fully_shard(const Module& module, const ProcessGroup& group,
                 const FullyShardOptions& options = {}) {
  auto unit = shard_unit(module);
  fully_shard_module(*unit, group, options);
  return unit;
}

}  // namespace hpcboot
