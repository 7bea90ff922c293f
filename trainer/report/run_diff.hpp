#pragma once

#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "record/run_record.hpp"
#include "text/table.hpp"

namespace hpcboot::report {

/// How two runs differ: in their settings, in the time of each phase, and in their results.
/// @param look of the terminal that it goes to
Encoded diff_text(const record::RunRecord& a, const record::RunRecord& b, const Look& look);

/// The same: `settings`, `phases` and `results`, each by name with the values `a` and `b`, null if
/// unknown.
Json diff_json(const record::RunRecord& a, const record::RunRecord& b);

}  // namespace hpcboot::report
