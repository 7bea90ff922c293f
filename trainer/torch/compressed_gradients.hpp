#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include <memory>

namespace hpcboot {

/// Averages the gradients of a bucket over the ranks in a two-byte type. Each rank divides before
/// it rounds, so that sums in fp16 do not overflow.
/// @param type kHalf or kBFloat16
std::unique_ptr<c10d::CommHookInterface> make_compression_hook(
    c10::intrusive_ptr<c10d::ProcessGroup> group, c10::ScalarType type);

}  // namespace hpcboot
