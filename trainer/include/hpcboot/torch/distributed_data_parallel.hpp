#pragma once

#include <utility>

#include "hpcboot/torch/gradient_reducer.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "hpcboot/torch/tensors.hpp"

namespace hpcboot {

/// Trains one model on several ranks, like PyTorch's class of this name: every rank runs it on its
/// own part of the global batch, and the gradients are averaged over the ranks during the backward
/// pass. If the loss is a mean and the parts are of equal size, this equals training on the global
/// batch.
///
///     hpcboot::DistributedDataParallel ddp(Net(), group);
///     torch::optim::Adam optimizer(ddp.module()->parameters(), 1e-4);
///     torch::Tensor loss = torch::cross_entropy_loss(ddp.forward(images), labels);
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();
///
/// @tparam Module a module holder (TORCH_MODULE) or a std::shared_ptr to a module
///
/// Construct the optimizer after this object, which sets the parameters to rank 0's. All parameters
/// of the module must be on one device.
template <typename Module>
class DistributedDataParallel {
 public:
  /// Collective: every rank constructs it, from the same module.
  /// @throws Error{invalid_model_use} on every rank, if the ranks' models or options differ, if the
  ///         model has no trained parameter, or lacks an ignored one; Error{peer_lost,
  ///         deadline_exceeded}
  DistributedDataParallel(Module module, ProcessGroup& group,
                          const DistributedDataParallelOptions& options = {})
      : module_(std::move(module)), reducer_(*module_, group, options) {}

  /// Calls the module's forward with these arguments, and returns its result, of any structure that
  /// for_each_tensor() knows. In training with gradients enabled, every rank must call it equally
  /// often. The following backward throws Error{invalid_model_use} if parameters were not used; see
  /// with_peers() for what it throws when a rank is gone.
  template <typename... Arguments>
  auto forward(Arguments&&... arguments) {
    reducer_.before_forward();
    auto output = module_->forward(std::forward<Arguments>(arguments)...);
    reducer_.after_forward(tensors_of(output));
    return output;
  }

  /// For gradient accumulation: during the lifetime of the returned guard, forward and backward
  /// passes add to the gradients of this rank only. The first pass after it exchanges the sum, so
  /// divide each loss by the number of passes.
  ///
  ///     {
  ///       const auto guard = ddp.no_sync();
  ///       (loss_of(ddp.forward(first)) / 2).backward();
  ///     }
  ///     (loss_of(ddp.forward(second)) / 2).backward();
  [[nodiscard]] NoSync no_sync() { return NoSync(reducer_); }

  /// What the exchange of the gradients costs: bytes, buckets, times, overlap with the backward
  /// pass.
  const ExchangeStatistics& statistics() const { return reducer_.statistics(); }

  /// For ranks with different numbers of batches: a member of a Join.
  Joinable& joinable() { return reducer_.joinable(); }

  /// The module itself, with the parameters to optimise, the state to save, train() and eval().
  Module& module() { return module_; }
  const Module& module() const { return module_; }

 private:
  Module module_;
  GradientReducer reducer_;
};

}  // namespace hpcboot
