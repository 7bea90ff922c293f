#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>
#include <utility>
#include <vector>

#include "hpcboot/torch/gradient_reducer.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// The tensors of what a module's forward returns. A result of a type of your own needs an overload
/// of this in that type's namespace.
inline std::vector<at::Tensor> tensors_of(const at::Tensor& output) {
  return {output};
}
inline std::vector<at::Tensor> tensors_of(const std::vector<at::Tensor>& output) {
  return output;
}
template <typename... Tensors>
std::vector<at::Tensor> tensors_of(const std::tuple<Tensors...>& output) {
  return std::apply([](const auto&... one) { return std::vector<at::Tensor>{one...}; }, output);
}

/// Trains one model on several ranks, as PyTorch's class of this name does: every rank runs it on
/// its own part of the global batch, and the gradients are averaged over the ranks during the
/// backward pass. With a loss that is a mean over equal parts this is training on the global batch.
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
/// Make the optimizer after this, since the parameters become rank 0's here. Not to outlive the
/// process group. All parameters of one module are on one device.
template <typename Module>
class DistributedDataParallel {
 public:
  /// Collective: every rank makes it, of the same module.
  /// @throws Error{invalid_model_use} on every rank, where the ranks' models differ or nothing in
  ///         them is trained; Error{peer_lost, deadline_exceeded}
  DistributedDataParallel(Module module, ProcessGroup& group,
                          const DistributedDataParallelOptions& options = {})
      : module_(std::move(module)), reducer_(*module_, group, options) {}

  /// The module's forward with these arguments. In training with gradients enabled every rank calls
  /// it equally often. The backward after it throws Error{invalid_model_use} where parameters were
  /// not used; see with_peers() for what it throws when a rank is gone.
  template <typename... Arguments>
  auto forward(Arguments&&... arguments) {
    reducer_.before_forward();
    auto output = module_->forward(std::forward<Arguments>(arguments)...);
    reducer_.after_forward(tensors_of(output));
    return output;
  }

  /// For the accumulation of gradients: while what this returns lives, forward and backward passes
  /// add to the gradients of this rank alone. The first pass after it exchanges the sum, so divide
  /// each loss by the number of passes.
  ///
  ///     {
  ///       const auto guard = ddp.no_sync();
  ///       (loss_of(ddp.forward(first)) / 2).backward();
  ///     }
  ///     (loss_of(ddp.forward(second)) / 2).backward();
  [[nodiscard]] NoSync no_sync() { return NoSync(reducer_); }

  /// What the exchange of gradients costs; see GradientReducer.
  const GradientReducer& reducer() const { return reducer_; }

  /// The module itself: its parameters to optimise, its state to save, train() and eval().
  const Module& module() const { return module_; }

 private:
  Module module_;
  GradientReducer reducer_;
};

}  // namespace hpcboot
