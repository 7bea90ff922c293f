#pragma once

#include <vector>

#include "bandwidth_report.hpp"
#include "check_ranks.hpp"

namespace hpcboot::tool {

// Rank 0: measures links between the ranks, one after the other, so that each has the network for
// itself. All ranks take part.
// @param reports of all ranks, by rank, which have been found consistent
// @param patience for an answer of the others, beyond the time of the links
// @throws Error{peer_lost, deadline_exceeded} if rank 0's store does not answer. What happens to a
//         link is in its result.
std::vector<LinkResult> measure_links(rendezvous::Client& client,
                                      const std::vector<RankReport>& reports,
                                      std::chrono::seconds patience);

// Any other rank. @throws as above
void take_part_in_links(rendezvous::Client& client, const RankReport& own,
                        std::chrono::seconds patience);

}  // namespace hpcboot::tool
