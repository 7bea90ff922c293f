#pragma once

#include <c10/core/Device.h>

#include "hpcboot/env.hpp"

namespace hpcboot::train {

/// Kernels whose sums come in one order, where LibTorch has them; it refuses what it cannot do so.
/// @throws UsageError on a CUDA device where `env` lacks what cuBLAS needs for that
void use_deterministic_algorithms(c10::Device device, const Env& env);

}  // namespace hpcboot::train
