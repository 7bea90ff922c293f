#pragma once

#include <vector>

#include "bandwidth_report.hpp"
#include "check_ranks.hpp"

namespace hpcboot::tool {

// Rank 0: measures links between the ranks, one after the other, so that each has the network for
// itself. All ranks take part.
// @param reports of all ranks, by rank, which have been found consistent
// @throws Error{peer_lost} if its own store does not answer. What happens to a link, and to a rank,
//         is in the result.
std::vector<LinkResult> measure_links(rendezvous::Client& client,
                                      const std::vector<RankReport>& reports);

// Any other rank.
// @param patience for rank 0's plan
// @throws Error{peer_lost, deadline_exceeded} if rank 0 does not answer
void take_part_in_links(rendezvous::Client& client, const RankReport& own,
                        std::chrono::seconds patience);

}  // namespace hpcboot::tool
