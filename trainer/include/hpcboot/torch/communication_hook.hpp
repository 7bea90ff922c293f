#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpcboot/torch/pending.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Gradients that are exchanged together, because they were ready at about the same time.
struct GradientBucket {
  at::Tensor
      gradients;  ///< of this rank: all, one after the other, in one dimension; or one sparse
  bool is_last = false;  ///< the last bucket of this backward pass
  /// The parameters whose gradients they are, and the gradient of each, a view of `gradients` (none
  /// if these are sparse). Only during exchange().
  std::function<std::vector<at::Tensor>()> parameters;
  std::function<std::vector<at::Tensor>()> parts;
};

/// How DistributedDataParallel exchanges gradients; derive from it for a way of your own, with the
/// collectives of hpcboot/torch/collectives.hpp:
///
///     struct Halved : hpcboot::CommunicationHook {
///       hpcboot::Pending<at::Tensor> exchange(hpcboot::ProcessGroup& group,
///                                             const hpcboot::GradientBucket& bucket) override {
///         const at::Tensor half = bucket.gradients.to(at::kHalf);
///         return hpcboot::all_reduce(group, half, hpcboot::ReduceOp::average)
///             .then([](const at::Tensor& mean) { return mean.to(at::kFloat); });
///       }
///     };
///     options.communication_hook = std::make_shared<Halved>();
///
/// A hook belongs to one DistributedDataParallel.
class CommunicationHook {
 public:
  virtual ~CommunicationHook() = default;

  /// Starts the exchange of a bucket, while the backward pass goes on. The result, of the shape of
  /// bucket.gradients, takes their place. The buckets, and then the results, are asked for in the
  /// same order on every rank, so that a step after the transfer may call further collectives.
  /// What it throws is thrown by backward().
  virtual Pending<at::Tensor> exchange(ProcessGroup& group, const GradientBucket& bucket) = 0;

  /// Settings that must be the same on every rank, as one line; DistributedDataParallel compares
  /// them, and the names of the classes.
  virtual std::string settings() const { return {}; }
};

/// The average over the ranks, in the gradients' own type. The default.
std::shared_ptr<CommunicationHook> all_reduce_hook();

/// The average over the ranks, rounded to a type of two bytes for the transfer: half the traffic.
/// bf16 keeps 8 bits; fp16 11 bits, and 0 below 6e-8. Each rank divides before it rounds, so that
/// sums in fp16 do not overflow. Gloo cannot add bf16, so there every rank receives the gradients
/// of every rank: that is less traffic than fp32 on 2 and 3 ranks only.
/// @param type at::kHalf or at::kBFloat16
/// @throws Error{invalid_model_use} for another type
std::shared_ptr<CommunicationHook> compression_hook(at::ScalarType type);

}  // namespace hpcboot
