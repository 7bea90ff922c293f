#include "hpcboot/torch/grad_scaler.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), scale_(options.initial_scale) {
  if (options.initial_scale > 0 && options.growth_factor > 1 && options.backoff_factor > 0 &&
      options.backoff_factor < 1 && options.growth_interval > 0) {
    return;
  }
  throw Error(ErrorCode::invalid_model_use,
              "a loss scale of " + std::to_string(options.initial_scale) + ", growing by " +
                  std::to_string(options.growth_factor) + " every " +
                  std::to_string(options.growth_interval) + " steps, falling by " +
                  std::to_string(options.backoff_factor),
              "a scale above 0, growth above 1 every 1 or more steps, and a fall in (0, 1)",
              "correct the GradScalerOptions");
}

bool GradScaler::unscale(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) {
    const auto same = [&](const at::Tensor& other) { return other.is_same(parameter); };
    if (std::none_of(unscaled_.begin(), unscaled_.end(), same)) continue;
    throw Error(ErrorCode::invalid_model_use, "a second unscale() of the same gradients",
                "one call in a step: a second one would divide them by the scale again",
                "call unscale() once before each optimizer's step, and update() after all steps");
  }
  unscaled_.insert(unscaled_.end(), parameters.begin(), parameters.end());
  const at::NoGradGuard no_grad;
  const double inverse = 1 / scale_;
  // One number for all gradients, so that a GPU is read once: 0 x infinity is not a number.
  at::Tensor zero;
  for (const at::Tensor& parameter : parameters) {
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    gradient.mul_(inverse);
    const at::Tensor one = gradient.mul(0).sum();
    zero = zero.defined() ? zero.add(one.to(zero.device())) : one;
  }
  const bool overflow = zero.defined() && !std::isfinite(zero.item<double>());
  found_overflow_ = found_overflow_ || overflow;
  return !overflow;
}

void GradScaler::update() {
  unscaled_.clear();
  if (std::exchange(found_overflow_, false)) {
    scale_ *= options_.backoff_factor;
    good_in_a_row_ = 0;
    ++skipped_;
    ++skipped_in_a_row_;
    return;
  }
  skipped_in_a_row_ = 0;
  if (++good_in_a_row_ < options_.growth_interval) return;
  good_in_a_row_ = 0;
  // Beyond the range of float32 the scaled loss would always be infinite.
  const double grown = scale_ * options_.growth_factor;
  if (std::isfinite(static_cast<float>(grown))) scale_ = grown;
}

void GradScaler::restore(const State& state) {
  scale_ = state.scale;
  good_in_a_row_ = state.steps_since_change;
  skipped_ = state.skipped_steps;
}

}  // namespace hpcboot
