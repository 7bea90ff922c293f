#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <cstddef>
#include <ostream>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// torch::nn::BatchNorm2d that can take its statistics over the batches of all ranks instead of its
/// own (see synchronize_batch_norms): the same options, parameters, buffers and names. Until then,
/// in evaluation, and without running statistics, it is that module.
class BatchNorm2dImpl
    : public torch::nn::NormImplBase<2, BatchNorm2dImpl, torch::nn::BatchNormOptions> {
 public:
  using torch::nn::NormImplBase<2, BatchNorm2dImpl, torch::nn::BatchNormOptions>::NormImplBase;

  /// Synchronised, collective in training: every rank calls it, with batches of any size, none
  /// included; and its backward pass is collective too.
  /// @throws Error{peer_lost, deadline_exceeded}
  torch::Tensor forward(const torch::Tensor& input);

  /// From now on with the ranks of this group, which has to live as long.
  void synchronize(ProcessGroup& group) { group_ = &group; }

  void pretty_print(std::ostream& stream) const override;

 protected:
  void _check_input_dim(const torch::Tensor& input) override;

 private:
  ProcessGroup* group_ = nullptr;  // null: alone
};
TORCH_MODULE(BatchNorm2d);

/// Makes every hpcboot::BatchNorm2d in the module take its statistics over the ranks of the group.
/// Training on parts of a batch then computes what one process computes on all of it. The group has
/// to live as long as the module.
/// @return how many there are
/// @throws Error{invalid_model_use} naming the first torch::nn::BatchNorm2d: a forward of
/// LibTorch's
///         modules cannot be replaced from outside, so the model has to have hpcboot's
std::size_t synchronize_batch_norms(torch::nn::Module& module, ProcessGroup& group);

}  // namespace hpcboot
