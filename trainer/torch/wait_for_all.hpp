#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace hpcboot {

/// Waits until all ranks have written their name into the store; none continues before all have
/// arrived.
/// @param me the name of this rank: host and process id
/// @param hosts of the launch, as far as known: those without any rank are named, too
/// @throws Error{deadline_exceeded} on every rank that has arrived, with the same list of missing
///         ranks; Error{peer_lost} if the store is gone
void wait_for_all(c10d::Store& store, int rank, int world_size, const std::string& me,
                  const std::vector<std::string>& hosts, std::chrono::milliseconds deadline);

}  // namespace hpcboot
