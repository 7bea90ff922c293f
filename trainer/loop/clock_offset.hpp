#pragma once

#include <cstdint>

#include "loop/communicator.hpp"

namespace hpcboot::train {

/// The wall clock of this host: nanoseconds since the epoch.
std::int64_t wall_clock();

/// How many nanoseconds this rank's wall clock is ahead of rank 0's: a rank asks rank 0 for its
/// time repeatedly, and believes the answer that took the shortest time, which came in the middle
/// of it (D. Mills, RFC 5905, section 8). Wrong by at most half of that time. Collective; takes
/// less than a millisecond for each rank, one after the other.
/// @throws Error{peer_lost, deadline_exceeded}
std::int64_t clock_ahead_of_first(Communicator& communicator);

}  // namespace hpcboot::train
