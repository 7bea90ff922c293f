#pragma once

#include "hpcboot/encode.hpp"
#include "plots/plot.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

/// A plot as an image within the page. As such, it runs no scripts and has names of its own.
/// @throws Error{backend_unavailable} without gnuplot, or if it fails
Encoded figure(const plots::Plot& plot);

/// Every plot that the runs have data for, and what the others need.
/// @throws Error{backend_unavailable} as above
Encoded figures_section(const ReportData& data);

}  // namespace hpcboot::report
