#include "monitor/read_monitor.hpp"

#include <cmath>
#include <sstream>

#include "fuzz.hpp"

// A monitor.csv, from bytes: rows of finite numbers, which are written and read back, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  fuzz::allow_error([&] {
    std::istringstream file{std::string(fuzz::text_of(data, size))};
    std::string text = monitor::monitor_header();
    std::size_t rows = 0;
    for (const monitor::MonitorRow& row : monitor::read_monitor(file, "input")) {
      fuzz::require(std::isfinite(row.seconds), "seconds are finite");
      const std::string line = monitor::monitor_line(row);
      if (line.size() > 60'000) continue;  // read_monitor() passes over longer ones
      text += line;
      ++rows;
    }
    std::istringstream written(text);
    fuzz::require(monitor::read_monitor(written, "written").size() == rows, "rows are read back");
  });
  return 0;
}
