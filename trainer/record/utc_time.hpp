#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// "2026-11-20T23:59:01Z": ISO 8601 in UTC, whole seconds. Such texts sort as the times do.
std::string iso8601_utc(std::chrono::system_clock::time_point time);

/// "20261120_235901": the same moment in the form used in a run folder's name.
std::string folder_timestamp(std::chrono::system_clock::time_point time);

/// Whether `text` has the form that iso8601_utc() writes, each field within its range.
bool is_iso8601_utc(std::string_view text);

}  // namespace hpcboot::record
