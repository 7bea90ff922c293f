#pragma once

#include "hpcboot/encode.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

/// What makes figures of the runs questionable, and which runs are left out; empty if nothing.
Encoded warnings_section(const ReportData& data);

}  // namespace hpcboot::report
