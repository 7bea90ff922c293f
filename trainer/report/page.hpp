#pragma once

#include "hpcboot/encode.hpp"
#include "report/report_data.hpp"

namespace hpcboot::report {

struct PageOptions {
  bool has_plots = true;
  bool has_published = false;  ///< published figures beside
};

/// The report of runs, a page that requests nothing from the network.
/// @throws Error{backend_unavailable} if plots are asked for, and gnuplot is missing or fails
Encoded page(const ReportData& data, const PageOptions& options);

}  // namespace hpcboot::report
