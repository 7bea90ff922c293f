#include <algorithm>
#include <cmath>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "plots/run_groups.hpp"

namespace hpcboot::plots {
namespace {

std::vector<double> values_of(const RunGroup& group, std::optional<double> RunData::*value) {
  std::vector<double> values;
  for (const RunData& run : group.runs) {
    if (run.*value) values.push_back(*(run.*value));
  }
  return values;
}

/// Bars of the medians; of fewer than three runs, the runs themselves are shown as well.
Panel panel_of(const std::vector<RunGroup>& groups, std::optional<double> RunData::*value,
               std::string label) {
  Panel panel;
  panel.kind = Panel::Kind::bars;
  panel.x_label = std::move(label);
  Series bars{"median", Series::Style::line, {}, {}};
  Series points{"a run (fewer than three)", Series::Style::points, {}, {}};
  for (const RunGroup& group : groups) {
    const auto x = static_cast<double>(panel.categories.size());
    panel.categories.push_back(group.name);
    const std::vector<double> values = values_of(group, value);
    bars.points.push_back(values.empty() ? Point{x, NAN} : median_point(x, values));
    if (values.size() >= kRepetitions || values.size() < 2) continue;
    for (const double one : values) points.points.push_back({x, one});
  }
  panel.series.push_back(std::move(bars));
  if (!points.points.empty()) panel.series.push_back(std::move(points));
  return panel;
}

}  // namespace

Plot runtime_plot(const std::vector<RunData>& all) {
  std::vector<RunData> runs;
  for (const RunData& run : all) {
    if (run.runtime_seconds) runs.push_back(run);
  }
  if (runs.empty()) throw NothingToPlot("no finished run has a runtime");
  const std::vector<RunGroup> groups = groups_of(runs);
  Plot plot;
  plot.title = "Runtime: " + common_about(runs);
  plot.source = source_of(runs) +
                "; number of runs in brackets; median, of three or more with minimum and maximum";
  plot.panels = {panel_of(groups, &RunData::runtime_seconds, "runtime, s (shorter is better)")};
  const bool has_rates = std::any_of(runs.begin(), runs.end(), [](const RunData& run) {
    return run.images_per_second.has_value();
  });
  if (has_rates) {
    plot.panels.push_back(
        panel_of(groups, &RunData::images_per_second, "samples per second (longer is better)"));
  }
  return plot;
}

}  // namespace hpcboot::plots
