#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace hpcboot {

/// Waits until every rank of the group has called this. Each announces itself in the store before
/// it waits, so that the others can name the ranks that have not come.
/// @param store of this group only; null without one: no rank is named then
/// @param count of this call, the same on every rank: 1, 2, 3, …
/// @param global_ranks the ranks of the group in the launch, for the message
/// @throws Error{deadline_exceeded, peer_lost}
void named_barrier(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                   std::int64_t count, const std::vector<int>& global_ranks,
                   std::chrono::milliseconds deadline);

}  // namespace hpcboot
