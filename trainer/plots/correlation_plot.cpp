#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/counted.hpp"
#include "plots/monitor_rows.hpp"
#include "plots/plots.hpp"

namespace hpcboot::plots {
namespace {

using monitor::MonitorRow;

struct Variable {
  std::string name;
  std::vector<double> values;  ///< NaN if a row lacks it
};

constexpr std::size_t kFewest = 5;  // rows: fewer say nothing

bool changes(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low < high;
}

std::vector<Variable> variables_of(const std::vector<MonitorRow>& rows) {
  const std::pair<const char*, std::optional<double> MonitorRow::*> chosen[] = {
      {"GPU load", &MonitorRow::gpu_load_percent},
      {"GPU memory", &MonitorRow::gpu_memory_bytes},
      {"GPU temperature", &MonitorRow::gpu_temperature_celsius},
      {"GPU power", &MonitorRow::gpu_power_watts},
      {"CPU load", &MonitorRow::cpu_load_percent},
      {"rank's memory", &MonitorRow::resident_bytes},
      {"received", &MonitorRow::network_received_bytes_per_second},
      {"step time", &MonitorRow::step_seconds}};
  std::vector<Variable> variables;
  for (const auto& [name, value] : chosen) {
    Variable variable{name, {}};
    std::size_t known = 0;
    for (const MonitorRow& row : rows) {
      if ((row.*value).has_value()) ++known;
      variable.values.push_back((row.*value).value_or(NAN));
    }
    if (known >= kFewest && changes(variable.values)) variables.push_back(std::move(variable));
  }
  Variable time{"time", {}};
  for (const MonitorRow& row : rows) time.values.push_back(row.seconds);
  variables.push_back(std::move(time));
  return variables;
}

/// Pearson's correlation coefficient over the rows that have both; NaN if one does not change.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double count = 0;
  double mean_a = 0;
  double mean_b = 0;
  double square_a = 0;
  double square_b = 0;
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {  // B. P. Welford, Technometrics 4 (1962) 419
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    ++count;
    const double from_a = a[i] - mean_a;
    const double from_b = b[i] - mean_b;
    mean_a += from_a / count;
    mean_b += from_b / count;
    square_a += from_a * (a[i] - mean_a);
    square_b += from_b * (b[i] - mean_b);
    product += from_a * (b[i] - mean_b);
  }
  if (count < static_cast<double>(kFewest) || square_a <= 0 || square_b <= 0) return NAN;
  return product / std::sqrt(square_a * square_b);
}

}  // namespace

Plot correlation_plot(const std::vector<RunData>& runs) {
  const RunData& run = only_run(runs);
  const std::vector<MonitorRow> rows = rows_of(run);
  if (rows.size() < kFewest) {
    throw NothingToPlot(fmt::format("monitor.csv has {}; a correlation needs {} or more",
                                    counted(static_cast<std::int64_t>(rows.size()), "row"),
                                    kFewest));
  }
  Panel panel;
  panel.kind = Panel::Kind::matrix;
  const std::vector<Variable> variables = variables_of(rows);
  for (const Variable& one : variables) {
    panel.categories.push_back(one.name);
    Series series{one.name, Series::Style::points, {}, {}};
    for (std::size_t i = 0; i < variables.size(); ++i)
      series.points.push_back(
          {static_cast<double>(i), correlation(one.values, variables[i].values)});
    panel.series.push_back(std::move(series));
  }
  Plot plot;
  plot.title = fmt::format("Correlation in {}: {}", run.run, run.about);
  plot.source = fmt::format(
      "Pearson's coefficient of {} rows of {}, of all ranks together; values that do not change "
      "are left out",
      rows.size(), (run.folder / "monitor.csv").string());
  plot.panels = {std::move(panel)};
  return plot;
}

}  // namespace hpcboot::plots
