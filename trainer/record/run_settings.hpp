#pragma once

#include <map>
#include <string>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// The value of a setting that the record does not have, or that is null.
constexpr const char* kUnknownSetting = "–";

/// Everything that a run was told to do, and by what and where it ran, by name: its options,
/// layout, launcher, scheduler, site, kind of device, and versions ("version of libtorch"). Not
/// what is its own in any case: names, times, ids. Unknown values are null.
Json settings_json(const RunRecord& run);

/// The same as text; kUnknownSetting for null.
std::map<std::string, std::string> run_settings(const RunRecord& run);

}  // namespace hpcboot::record
