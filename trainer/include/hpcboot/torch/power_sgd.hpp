#pragma once

#include <cstdint>
#include <memory>

#include "hpcboot/torch/communication_hook.hpp"

namespace hpcboot {

struct PowerSgdOptions {
  std::int64_t rank =
      1;  ///< of the approximation: more is closer to the gradient, and more traffic
  /// For the first steps, in which gradients change most, they are exchanged as they are.
  std::int64_t start_step = 100;
  /// A matrix is approximated only if that sends less than its elements divided by this.
  double min_compression = 2;
  std::uint64_t seed = 0;  ///< of the first approximation; the same on every rank
};

/// Exchanges a matrix of gradients (the first dimension against all others) as the product of two
/// thin ones, by one step of the power method. What the approximation left out is added to the
/// gradient of the next step. (T. Vogels et al., PowerSGD: Practical Low-Rank Gradient Compression
/// for Distributed Optimization, NeurIPS 2019, algorithms 1 and 2.) Needs memory for a copy of all
/// gradients that it approximates.
/// @throws Error{invalid_model_use} for a rank or start_step below 1, or min_compression below 1
std::shared_ptr<CommunicationHook> power_sgd_hook(const PowerSgdOptions& options = {});

}  // namespace hpcboot
