#pragma once

#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "profile/time_summary.hpp"
#include "profile/trace_events.hpp"
#include "text/table.hpp"

namespace hpcboot::profile {

/// What a rank tells rank 0 of its recording.
struct RankSummary {
  std::string host;
  std::int64_t begin = 0;  ///< of the recording, by rank 0's clock; nanoseconds since the epoch
  TimeSummary time;
  TraceSize size;
};

Json to_json(const RankSummary& summary);
/// @param from names the source in errors. @throws Error{malformed_file}
RankSummary rank_summary_from_json(const Json& json, const std::string& from);

/// How the ranks spent their time: a row for each, in shares of their steps. Of many ranks, the
/// slowest ones.
/// @param ranks by rank
Encoded rank_summary_table(const std::vector<RankSummary>& ranks, const Look& look = {});

/// All of them as a CSV file, times in seconds.
std::string rank_summary_csv(const std::vector<RankSummary>& ranks);

}  // namespace hpcboot::profile
