#pragma once

#include "hpcboot/encode.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

/// The published figures, with own runs of the same work and layout beside.
/// @param draws whether speed-ups are also drawn
/// @throws Error{backend_unavailable} if gnuplot is missing or fails
Encoded published_section(const ReportData& data, bool draws);

}  // namespace hpcboot::report
