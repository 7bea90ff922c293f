#pragma once

#include "json/json_reader.hpp"
#include "record/run_record.hpp"

namespace hpcboot::record {

/// Where a run ran, as run.json records it.
/// @throws Error{malformed_file}
RankRecord rank_from(const JsonReader& reader);
HostRecord host_from(const JsonReader& reader);
Json to_json(const HostRecord& host);

}  // namespace hpcboot::record
