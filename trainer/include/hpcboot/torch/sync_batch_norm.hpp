#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <cstddef>
#include <ostream>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// torch::nn::BatchNorm2d that can compute its statistics over the batches of all ranks instead of
/// its own (see synchronize_batch_norms). Options, parameters, buffers and names are the same.
/// Until it is synchronised, and in evaluation even without running statistics, it behaves like
/// that module.
class BatchNorm2dImpl
    : public torch::nn::NormImplBase<2, BatchNorm2dImpl, torch::nn::BatchNormOptions> {
 public:
  using torch::nn::NormImplBase<2, BatchNorm2dImpl, torch::nn::BatchNormOptions>::NormImplBase;

  /// If synchronised, collective in training: every rank calls it, with a batch of any size, which
  /// may be empty. Its backward pass is then collective, too.
  /// @throws Error{peer_lost, deadline_exceeded}
  torch::Tensor forward(const torch::Tensor& input);

  /// Synchronises with the ranks of this group from now on. The group must outlive this module.
  void synchronize(ProcessGroup& group) { group_ = &group; }

  void pretty_print(std::ostream& stream) const override;

 protected:
  void _check_input_dim(const torch::Tensor& input) override;

 private:
  ProcessGroup* group_ = nullptr;  // null: alone
};
TORCH_MODULE(BatchNorm2d);

/// Makes every hpcboot::BatchNorm2d in the module compute its statistics over the ranks of the
/// group. Training on parts of a batch then computes what one process computes on all of it. The
/// group must outlive the module.
/// @return the number of these layers
/// @throws Error{invalid_model_use} naming the first torch::nn::BatchNorm2d: the forward of
///         LibTorch's modules cannot be replaced from outside, so the model must use hpcboot's
std::size_t synchronize_batch_norms(torch::nn::Module& module, ProcessGroup& group);

}  // namespace hpcboot
