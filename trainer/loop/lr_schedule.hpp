#pragma once

#include <cstdint>

#include "loop/optimization_options.hpp"

namespace hpcboot::train {

/// The learning rate of each step: a function of the step number only, so that a resumed run
/// continues with the same rates. The values are those of torch.optim.lr_scheduler, set before each
/// step: StepLR, CosineAnnealingLR, and LinearLR down to 0, over the steps after the warm-up; the
/// warm-up is LinearLR from 1 / (warmup_steps + 1).
class LrSchedule {
 public:
  enum class Shape { constant, step, cosine, linear };

  /// @param steps_per_epoch optimizer steps
  /// @param devices over all ranks, for scale_lr
  /// @throws UsageError for unknown names, or a warm-up longer than the run
  LrSchedule(const OptimizationOptions& options, std::int64_t steps_per_epoch, int epochs,
             int devices);

  /// @param step from 0, over the whole run
  double at(std::int64_t step) const;

  /// The peak learning rate: lr after scale_lr.
  double peak() const { return peak_; }

 private:
  Shape shape_;
  double peak_;
  std::int64_t warmup_;       // steps
  std::int64_t decay_every_;  // steps, of Shape::step
  double decay_factor_;
  std::int64_t decay_steps_;  // steps after the warm-up
};

}  // namespace hpcboot::train
