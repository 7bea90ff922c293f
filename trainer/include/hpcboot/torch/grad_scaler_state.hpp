#pragma once

#include <cstdint>

namespace hpcboot {

/// What a checkpoint has to keep of a GradScaler. Needs no LibTorch.
struct GradScalerState {
  double scale = 0;
  std::int64_t steps_since_change = 0;
  std::int64_t skipped_steps = 0;
};

}  // namespace hpcboot
