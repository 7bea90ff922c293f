#pragma once

#include <ATen/core/ivalue.h>
#include <torch/nn/modules/batchnorm.h>

#include <cstddef>
#include <ostream>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// A group as autograd keeps it for the backward pass.
struct GroupHolder : torch::CustomClassHolder {
  explicit GroupHolder(const ProcessGroup& held) : group(held) {}
  ProcessGroup group;
};

/// What hpcboot's BatchNorm1d, BatchNorm2d and BatchNorm3d add to LibTorch's.
class SynchronizedNorm {
 public:
  virtual ~SynchronizedNorm() = default;

  /// Synchronises with the ranks of this group from now on.
  void synchronize(const ProcessGroup& group) { group_ = c10::make_intrusive<GroupHolder>(group); }

  bool is_synchronized() const { return group_.defined(); }

 protected:
  /// The state of a layer that the computation needs.
  struct Layer {
    torch::Tensor weight;        ///< undefined if the layer is not affine
    torch::Tensor bias;          ///< likewise
    torch::Tensor running_mean;  ///< undefined if the layer tracks no statistics; else updated
    torch::Tensor running_var;   ///< likewise
    double momentum = 0;         ///< the share of this batch in the running statistics
    double eps = 0;
    bool training = false;
  };
  torch::Tensor normalize(const torch::Tensor& input, const Layer& layer) const;
  /// @param spatial how many dimensions the layer expects beside batch and channels
  /// @throws c10::Error if the input has others
  static void check_dimensions(const torch::Tensor& input, std::size_t spatial);
  const char* mode() const { return is_synchronized() ? ", synchronised)" : ")"; }

 private:
  c10::intrusive_ptr<GroupHolder> group_;  // null: alone
};

/// A batch norm of LibTorch that can compute its statistics over the batches of all ranks instead
/// of its own (see synchronize_batch_norms). Options, parameters, buffers and names are the same.
/// Until it is synchronised, and in evaluation even without running statistics, it behaves like
/// LibTorch's.
template <std::size_t D, typename Derived>
class SyncBatchNormImplBase
    : public torch::nn::NormImplBase<D, Derived, torch::nn::BatchNormOptions>,
      public SynchronizedNorm {
  using Base = torch::nn::NormImplBase<D, Derived, torch::nn::BatchNormOptions>;

 public:
  using Base::Base;

  /// If synchronised, collective in training: every rank calls it, with a batch of any size, which
  /// may be empty. Its backward pass is then collective, too.
  /// @throws Error{peer_lost, deadline_exceeded}
  torch::Tensor forward(const torch::Tensor& input) {
    this->_check_input_dim(input);
    const auto chosen = this->options.momentum();
    double momentum = chosen.value_or(0);
    if (this->is_training() && this->num_batches_tracked.defined()) {
      this->num_batches_tracked += 1;
      if (!chosen) momentum = 1 / this->num_batches_tracked.template item<double>();
    }
    return normalize(input, {this->weight, this->bias, this->running_mean, this->running_var,
                             momentum, this->options.eps(), this->is_training()});
  }

  void pretty_print(std::ostream& stream) const override {
    stream << "hpcboot::BatchNorm" << D << "d(" << this->options.num_features()
           << ", eps=" << this->options.eps() << mode();
  }

 protected:
  void _check_input_dim(const torch::Tensor& input) override { check_dimensions(input, D); }
};

/// Of {batch, features}, or {batch, channels, length}.
class BatchNorm1dImpl : public SyncBatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
};
TORCH_MODULE(BatchNorm1d);

/// Of {batch, channels, height, width}.
class BatchNorm2dImpl : public SyncBatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
};
TORCH_MODULE(BatchNorm2d);

/// Of {batch, channels, depth, height, width}.
class BatchNorm3dImpl : public SyncBatchNormImplBase<3, BatchNorm3dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
};
TORCH_MODULE(BatchNorm3d);

/// Makes every batch norm of hpcboot in the module compute its statistics over the ranks of the
/// group. Training on parts of a batch then computes what one process computes on all of it. The
/// group must outlive the module.
/// @return the number of these layers
/// @throws Error{invalid_model_use} naming the first batch norm of LibTorch: the forward of
///         LibTorch's modules cannot be replaced from outside, so the model must use hpcboot's
std::size_t synchronize_batch_norms(torch::nn::Module& module, ProcessGroup& group);

/// Whether a layer of this module computes its statistics over several ranks.
bool has_synchronized_norms(const torch::nn::Module& module);

}  // namespace hpcboot
