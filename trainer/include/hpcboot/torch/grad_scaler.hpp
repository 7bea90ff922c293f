#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "hpcboot/torch/grad_scaler_state.hpp"

namespace hpcboot {

struct GradScalerOptions {
  double initial_scale = 65536;  ///< 2^16
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  ///< steps in a row without overflow
};

/// Dynamic loss scaling for training in fp16, by the rule of torch.cuda.amp.GradScaler: the loss is
/// multiplied by a scale, so that small gradients do not underflow to 0 in fp16. A step whose
/// gradients overflow is skipped and the scale is halved; after growth_interval steps in a row
/// without overflow it is doubled.
///
///     scaler.scale(loss).backward();
///     if (scaler.unscale(parameters)) optimizer.step();
///     scaler.update();
///
/// Under DistributedDataParallel every rank has the same gradients, including an overflow on one
/// rank, so all ranks skip the same steps.
class GradScaler {
 public:
  /// @throws Error{invalid_model_use} for options outside the range that the rule allows
  explicit GradScaler(const GradScalerOptions& options = {});

  at::Tensor scale(const at::Tensor& loss) const { return loss.mul(scale_); }

  /// Divides the gradients by the scale, in place. Several models that share a scaler unscale their
  /// parameters one after the other, before the update() of the step.
  /// @return whether all of them are finite; if not, skip the step of their optimizer
  /// @throws Error{invalid_model_use} if a parameter was unscaled already since the last update();
  ///         then no gradient is changed
  bool unscale(const std::vector<at::Tensor>& parameters);

  /// Sets the scale of the next step, according to what the calls of unscale() found in this one.
  void update();

  double scale() const { return scale_; }
  std::int64_t skipped_steps() const { return skipped_; }
  /// Number of consecutive steps skipped up to now.
  std::int64_t skipped_in_a_row() const { return skipped_in_a_row_; }

  using State = GradScalerState;
  State state() const { return {scale_, good_in_a_row_, skipped_}; }
  void restore(const State& state);

 private:
  GradScalerOptions options_;
  double scale_;
  std::vector<at::Tensor> unscaled_;  ///< the parameters, since the last update()
  bool found_overflow_ = false;
  std::int64_t good_in_a_row_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t skipped_in_a_row_ = 0;
};

}  // namespace hpcboot
