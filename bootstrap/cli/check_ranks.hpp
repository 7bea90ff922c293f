#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "check_report.hpp"
#include "rendezvous/store/rendezvous.hpp"

namespace hpcboot::tool {

using Deadline = std::chrono::steady_clock::time_point;

// How long a question to rank 0's store takes: the least of five, in milliseconds.
double measure_round_trip(rendezvous::Client& client);

// Rank 0: hands the reports of all ranks (its own first) to `judge`, also those of an incomplete
// launch when the deadline has passed, tells the others its verdict, and stays until they have it.
// @return it
bool gather_reports(rendezvous::Client& client, const RankReport& own, Deadline end,
                    const std::function<bool(const std::vector<RankReport>&)>& judge);

// Another rank: tells rank 0 and waits for its verdict. @return it
// @throws Error{deadline_exceeded} if rank 0 says nothing, peer_lost if it is gone
bool report_to_rank0(rendezvous::Client& client, const RankReport& own, Deadline end);

}  // namespace hpcboot::tool
