#pragma once

#include "hpcboot/encode.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

/// The settings in which the newest runs differ, the less common values marked, and those that all
/// have. Empty for fewer than two runs.
Encoded differences_section(const ReportData& data);

}  // namespace hpcboot::report
