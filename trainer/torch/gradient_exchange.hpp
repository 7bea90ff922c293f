#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include <memory>
#include <optional>

namespace hpcboot {

/// Averages each bucket of gradients over the ranks, in this type if one is given. A peer that is
/// gone is then an Error of the backward pass, not an exception of c10d. Each rank divides before
/// it rounds, so that sums in fp16 do not overflow.
std::unique_ptr<c10d::CommHookInterface> make_gradient_exchange(
    c10::intrusive_ptr<c10d::ProcessGroup> group, std::optional<c10::ScalarType> compressed);

}  // namespace hpcboot
