#pragma once

#include <c10/core/Device.h>

#include "hpcboot/env.hpp"

namespace hpcboot::train {

/// Makes LibTorch use kernels with a fixed summation order; it then refuses operations that have
/// none.
/// @throws UsageError on a CUDA device if `env` lacks the variable that cuBLAS needs for that
void use_deterministic_algorithms(c10::Device device, const Env& env);

}  // namespace hpcboot::train
