#pragma once

#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::train {

/// The other ranks on the host of rank `own` whose processes are visible now: not those in a
/// separate container, and none of other hosts.
std::vector<record::RankRecord> neighbours_seen(const std::vector<record::RankRecord>& ranks,
                                                int own);

/// Lines for the message of a rank that lost a peer: which of these ranks have left since, with the
/// signal or exit code if that is still visible, and which are stopped. Empty if there are none.
std::string lost_neighbours(const std::vector<record::RankRecord>& neighbours, int world_size);

}  // namespace hpcboot::train
