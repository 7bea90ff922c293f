#include <algorithm>
#include <utility>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "plots/run_groups.hpp"
#include "record/run_phases.hpp"

namespace hpcboot::plots {
namespace {

using record::EpochRecord;

/// Milliseconds of a step, part by part, then the rest of it; empty if the record lacks them.
std::vector<double> parts_of(const RunData& run) {
  std::vector<double> sums(record::kStepParts.size() + 1, 0);
  double total = 0;
  double steps = 0;  // a hostile sum exceeds an integer
  for (const EpochRecord& epoch : run.epochs) {
    if (!epoch.steps || !epoch.train_seconds || !epoch.forward_seconds) continue;
    steps += static_cast<double>(*epoch.steps);
    total += *epoch.train_seconds;
    for (std::size_t i = 0; i < record::kStepParts.size(); ++i)
      sums[i] += (epoch.*record::kStepParts[i].seconds).value_or(0);
  }
  if (!(steps > 0)) return {};
  double known = 0;
  for (const double sum : sums) known += sum;
  sums.back() = std::max(0.0, total - known);
  for (double& sum : sums) sum *= 1e3 / steps;
  return sums;
}

}  // namespace

Plot steps_plot(const std::vector<RunData>& all) {
  std::vector<RunData> runs;
  for (const RunData& run : all) {
    if (!parts_of(run).empty()) runs.push_back(run);
  }
  if (runs.empty()) throw NothingToPlot("no finished run recorded what its steps consist of");
  Panel panel;
  panel.kind = Panel::Kind::stack;
  panel.x_label = "mean time of a step on rank 0, ms";
  for (const record::StepPart& part : record::kStepParts)
    panel.series.push_back({part.name, Series::Style::line, {}, {}});
  panel.series.push_back({"other", Series::Style::line, {}, {}});
  for (const RunGroup& group : groups_of(runs)) {
    const auto x = static_cast<double>(panel.categories.size());
    panel.categories.push_back(group.name);
    std::vector<std::vector<double>> parts;  // of each run
    for (const RunData& run : group.runs) parts.push_back(parts_of(run));
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      std::vector<double> values;
      for (const std::vector<double>& of_run : parts) values.push_back(of_run[i]);
      // The range of a part in the middle of a bar could not be read.
      panel.series[i].points.push_back({x, median_point(x, values).y});
    }
  }
  Plot plot;
  plot.title = "Steps: " + common_about(runs);
  plot.source = source_of(runs) +
                "; median of the runs in brackets; on GPUs, queued work counts "
                "where the program waits for it";
  plot.panels = {std::move(panel)};
  return plot;
}

}  // namespace hpcboot::plots
