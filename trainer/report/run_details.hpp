#pragma once

#include "hpcboot/encode.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

/// Of each of the newest runs: its ranks drawn on their hosts, where each value of their placement
/// comes from, and what it ran with.
Encoded details_section(const ReportData& data);

}  // namespace hpcboot::report
