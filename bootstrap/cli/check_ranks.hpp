#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "check_report.hpp"
#include "tcp.hpp"

namespace hpcboot::tool {

using Deadline = std::chrono::steady_clock::time_point;

// Rank 0: takes the reports of the others, measures the way to each, hands all of them (its own
// first) to `judge`, also those of an incomplete job when the deadline has passed, and tells the
// others its verdict. @return it
bool gather_reports(const Listener& listener, const RankReport& own, Deadline end,
                    const std::function<bool(const std::vector<RankReport>&)>& judge);

// Another rank: tells rank 0, answers while it measures, and waits for the verdict. @return it
// @throws Error{deadline_exceeded} where rank 0 cannot be reached or says nothing
bool report_to_rank0(const RankReport& own, Deadline end);

}  // namespace hpcboot::tool
