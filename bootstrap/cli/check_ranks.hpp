#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "check_report.hpp"
#include "rendezvous/store/rendezvous.hpp"

namespace hpcboot::tool {

using Deadline = std::chrono::steady_clock::time_point;

// Round-trip time of a request to rank 0's store: the minimum of five, in milliseconds.
double measure_round_trip(rendezvous::Client& client);

// Rank 0: passes the reports of all ranks (its own first) to `judge`, even those of an incomplete
// launch once the deadline has passed, sends the verdict to the others, and stays until they have
// it.
// @param then what all ranks do together after the verdict "ok"; receives the reports by rank; may
//        be empty
// @return the verdict
bool gather_reports(rendezvous::Client& client, const RankReport& own, Deadline end,
                    const std::function<bool(const std::vector<RankReport>&)>& judge,
                    const std::function<void(const std::vector<RankReport>&)>& then);

// Any other rank: reports to rank 0 and waits for its verdict. @return the verdict
// @param then the same, if rank 0 does it
// @throws Error{deadline_exceeded} if rank 0 does not answer, peer_lost if it is gone
bool report_to_rank0(rendezvous::Client& client, const RankReport& own, Deadline end,
                     const std::function<void()>& then);

}  // namespace hpcboot::tool
