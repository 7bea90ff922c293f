#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace hpcboot::train {

/// Seeds LibTorch's generators of the CPU and of these devices for one step. Each rank and each
/// device then draws numbers of its own, for example for dropout, and a resumed run the same as an
/// uninterrupted one: checkpoints need no generators.
/// @param step over the whole run
void seed_step(std::uint64_t seed, std::int64_t step, int rank,
               const std::vector<torch::Device>& devices);

}  // namespace hpcboot::train
