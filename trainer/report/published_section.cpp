#include "report/published_section.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "core/counted.hpp"
#include "plots/repetitions.hpp"
#include "record/run_work.hpp"
#include "record/runtime_columns.hpp"
#include "report/figures.hpp"
#include "report/published_figures.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"
#include "text/html_table.hpp"

namespace hpcboot::report {
namespace {

bool has_runtime(const plots::RunData& run) {
  return run.runtime_seconds.value_or(0) >= record::kShortestRuntime;
}

std::vector<double> own_runtimes(const ReportData& data, const PublishedFigure& figure) {
  std::vector<double> runtimes;
  for (const plots::RunData& run : data.comparable) {
    if (run.method == figure.method && run.nodes == figure.nodes &&
        run.devices_per_node == figure.devices_per_node && has_runtime(run))
      runtimes.push_back(*run.runtime_seconds);
  }
  return runtimes;
}

/// The published runtime of the same system on one device.
double base_of(const PublishedFigure& figure) {
  for (const PublishedFigure& other : published_figures()) {
    if (std::strcmp(other.system, figure.system) == 0 && other.nodes * other.devices_per_node == 1)
      return other.runtime_seconds;
  }
  return NAN;
}

HtmlTable::Cell number(const std::string& text, double value) {
  return {text, fmt::format("{}", value)};
}

std::vector<HtmlTable::Cell> row(const ReportData& data, const PublishedFigure& figure) {
  const int devices = figure.nodes * figure.devices_per_node;
  const double speedup = base_of(figure) / figure.runtime_seconds;
  std::vector<HtmlTable::Cell> cells{
      std::string(figure.system),
      std::string(figure.device),
      std::to_string(figure.nodes),
      std::to_string(figure.devices_per_node),
      std::string(figure.method),
      std::string(*figure.launcher == '\0' ? "–" : figure.launcher),
      number(fmt::format("{:.1f} s", figure.runtime_seconds), figure.runtime_seconds),
      number(fmt::format("{:.2f}", speedup), speedup),
      number(fmt::format("{:.0f}%", 100 * speedup / devices), speedup / devices)};
  const std::vector<double> own = own_runtimes(data, figure);
  if (own.empty()) {
    cells.insert(cells.end(), {std::string("–"), std::string("–")});
    return cells;
  }
  const double median = plots::median_point(0, own).y;
  const double ratio = figure.runtime_seconds / median;
  cells.push_back(
      number(fmt::format("{} ({})", record::duration_text(median), own.size()), median));
  cells.push_back(number(fmt::format("{:.2f}", ratio), ratio));
  return cells;
}

HtmlTable table_of(const ReportData& data) {
  HtmlTable table({{"System"},
                   {"Device"},
                   {"Nodes", true},
                   {"Devices/node", true},
                   {"Method"},
                   {"Launcher"},
                   {"Published", true},
                   {"Speed-up", true},
                   {"Efficiency", true},
                   {"Own", true},
                   {"Ratio", true}});
  for (const PublishedFigure& figure : published_figures()) table.add(row(data, figure));
  return table;
}

using Speedups = std::map<int, double>;  // by number of devices

plots::Series series_of(const std::string& name, const Speedups& speedups) {
  plots::Series series{name, plots::Series::Style::line, {}, {}};
  for (const auto& [devices, speedup] : speedups)
    series.points.push_back({static_cast<double>(devices), speedup});
  return series;
}

/// Speed-ups of one device and of DDP.
plots::Plot speedup_plot(const ReportData& data) {
  std::map<std::string, Speedups> systems;
  std::map<int, std::vector<double>> own;
  for (const PublishedFigure& figure : published_figures()) {
    if (std::strcmp(figure.method, "DP") == 0) continue;
    const int devices = figure.nodes * figure.devices_per_node;
    systems[figure.system].emplace(devices, base_of(figure) / figure.runtime_seconds);
  }
  for (const plots::RunData& run : data.comparable) {
    if (has_runtime(run) && run.method != "DP")
      own[static_cast<int>(run.devices)].push_back(*run.runtime_seconds);
  }
  plots::Panel panel;
  panel.x_label = "devices";
  panel.y_label = "speed-up";
  panel.is_log_x = panel.is_log_y = true;
  for (const auto& [system, speedups] : systems)
    panel.series.push_back(series_of(system + ", published", speedups));
  if (own.count(1) != 0) {
    Speedups speedups;
    const double base = plots::median_point(0, own[1]).y;
    for (const auto& [devices, runtimes] : own)
      speedups[devices] = base / plots::median_point(0, runtimes).y;
    panel.series.push_back(series_of("these runs, median", speedups));
  }
  plots::Series ideal{"ideal", plots::Series::Style::ideal, {{1, 1}, {8, 8}}, {}};
  panel.series.push_back(ideal);
  return {"Speed-up of DDP, published and own", std::string("Published: ") + kPublishedBy, {panel}};
}

}  // namespace

Encoded published_section(const ReportData& data, bool draws) {
  Encoded section = html_format("<p>Published, not measured by hpcboot: {}. Source: {}. ",
                                kPublishedWork, kPublishedBy);
  if (data.comparable.empty()) {
    section += "None of these runs did the same work, so there is nothing to compare.</p>\n";
  } else {
    section += html_format(
        "{} here did the same work, whatever the batch size and device. “Own” is the median of "
        "runs of the same layout, with their number; “ratio” is the published runtime divided by "
        "it.</p>\n",
        counted(static_cast<std::int64_t>(data.comparable.size()), "run"));
  }
  if (draws) section += figure(speedup_plot(data));
  return section + wide("Published figures", table_of(data).html());
}

}  // namespace hpcboot::report
