#pragma once

#include <cstdint>

namespace hpcboot {

/// The state of a GradScaler that a checkpoint keeps. Needs no LibTorch.
struct GradScalerState {
  double scale = 0;
  std::int64_t steps_since_change = 0;
  std::int64_t skipped_steps = 0;
};

}  // namespace hpcboot
