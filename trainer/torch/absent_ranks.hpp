#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <vector>

namespace hpcboot {

/// The ranks of 0..world_size-1 that do not call this within `wait` of this rank's call. Rank 0
/// only, if the store, which it serves, does not answer. Never throws.
std::vector<int> absent_ranks(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                              int world_size, std::chrono::milliseconds wait) noexcept;

}  // namespace hpcboot
