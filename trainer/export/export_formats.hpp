#pragma once

#include <vector>

#include "export/exporter.hpp"

namespace hpcboot::exports {

struct ExportFormat {
  const char* name;
  const char* about;   ///< a clause
  const char* output;  ///< the folder without --output; empty: standard output
  const char* next;    ///< the command that shows it; DIR stands for the output
  MakeExporter make;
};

/// Those that this build can write.
const std::vector<ExportFormat>& export_formats();

}  // namespace hpcboot::exports
