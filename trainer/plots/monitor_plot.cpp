#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plots/monitor_rows.hpp"
#include "plots/plots.hpp"
#include "plots/repetitions.hpp"

namespace hpcboot::plots {
namespace {

using monitor::MonitorRow;

constexpr std::size_t kMostPoints = 500;  // of a line

/// A diagram of a value.
struct Shown {
  const char* label;
  std::optional<double> MonitorRow::*value;
  double unit;  ///< of the label, in that of the value
};

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;

const std::vector<Shown>& shown() {
  static const std::vector<Shown> all{
      {"GPU load, %", &MonitorRow::gpu_load_percent, 1},
      {"GPU memory, GiB", &MonitorRow::gpu_memory_bytes, kGiB},
      {"GPU temperature, °C", &MonitorRow::gpu_temperature_celsius, 1},
      {"GPU power, W", &MonitorRow::gpu_power_watts, 1},
      {"GPU clock, MHz", &MonitorRow::gpu_clock_mhz, 1},
      {"load of the host's processors, %", &MonitorRow::cpu_load_percent, 1},
      {"memory of the rank, GiB", &MonitorRow::resident_bytes, kGiB},
      {"received by the host, MB/s", &MonitorRow::network_received_bytes_per_second, kMega},
      {"read from disks of the host, MB/s", &MonitorRow::disk_read_bytes_per_second, kMega},
      {"step without waiting, ms", &MonitorRow::own_seconds, kMilli}};
  return all;
}

/// "rank 3 (n2, cuda:1)"
std::string name_of(const MonitorRow& row) {
  return fmt::format("rank {} ({}, {})", row.rank, row.host, row.device);
}

using Lines = std::map<std::pair<int, std::string>, Series>;

/// Of many ranks, the median with the range over the ranks, in intervals of time.
Series summary_of(const Lines& lines) {
  constexpr std::size_t kIntervals = 100;
  Series summary{fmt::format("median, minimum and maximum of {} ranks", lines.size()),
                 Series::Style::line,
                 {},
                 {}};
  std::size_t longest = 1;
  for (const auto& [key, series] : lines) {
    longest = std::max(longest, series.points.size());
    summary.points.insert(summary.points.end(), series.points.begin(), series.points.end());
  }
  summary.points = binned(summary.points, std::min(longest, kIntervals));
  return summary;
}

}  // namespace

Plot monitor_plot(const std::vector<RunData>& runs) {
  const RunData& run = only_run(runs);
  const std::vector<MonitorRow> rows = rows_of(run);
  Plot plot;
  plot.title = fmt::format("Monitor of {}: {}", run.run, run.about);
  plot.source = (run.folder / "monitor.csv").string();
  for (const Shown& one : shown()) {
    Lines lines;
    bool is_used = false;  // an idle disk needs no diagram
    for (const MonitorRow& row : rows) {
      const std::optional<double> value = row.*one.value;
      if (!value) continue;
      is_used = is_used || *value != 0;
      Series& series = lines[{row.rank, row.device}];
      series.name = name_of(row);
      series.points.push_back({row.seconds, *value / one.unit});
    }
    if (lines.empty() || !is_used) continue;
    Panel panel;
    panel.is_from_zero = true;
    panel.x_label = "time, s";
    panel.y_label = one.label;
    if (lines.size() > kMostLines) {
      panel.series.push_back(summary_of(lines));
    } else {
      for (auto& [key, series] : lines) {
        series.points = binned(series.points, kMostPoints);
        panel.series.push_back(std::move(series));
      }
    }
    plot.panels.push_back(std::move(panel));
  }
  if (plot.panels.empty()) throw NothingToPlot("monitor.csv has no values yet");
  return plot;
}

}  // namespace hpcboot::plots
