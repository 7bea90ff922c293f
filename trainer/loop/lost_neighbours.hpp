#pragma once

#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::train {

/// The other ranks of rank `own`'s host whose processes are seen now: not those in a container of
/// their own, and none of other hosts.
std::vector<record::RankRecord> neighbours_seen(const std::vector<record::RankRecord>& ranks,
                                                int own);

/// Lines for the message of a rank that lost a peer: which of these have left since, and by which
/// signal or with which exit code where that is still to be seen; which are stopped. Empty where
/// there is none.
std::string lost_neighbours(const std::vector<record::RankRecord>& neighbours, int world_size);

}  // namespace hpcboot::train
