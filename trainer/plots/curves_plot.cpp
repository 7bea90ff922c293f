#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "plots/run_groups.hpp"

namespace hpcboot::plots {
namespace {

constexpr std::size_t kMostLines = 8;  // more could not be told apart

/// Values by epoch, of runs that share a line.
using Values = std::map<int, std::vector<double>>;

/// The values of one or several runs: loss in training, in validation, and each measure.
struct Curves {
  std::string name;
  Values train;
  Values validation;
  std::map<std::string, Values> measures;  // by label

  void add(const RunData& run) {
    for (const record::EpochRecord& epoch : run.epochs) {
      if (epoch.train_loss) train[epoch.epoch].push_back(*epoch.train_loss);
      if (epoch.validation_loss) validation[epoch.epoch].push_back(*epoch.validation_loss);
      for (const record::Measure& one : epoch.measures) {
        const std::string label = one.is_share ? one.name + ", %" : one.name;
        measures[label][epoch.epoch].push_back(one.is_share ? 100 * one.value : one.value);
      }
    }
  }
};

/// Three repetitions or more are one line with a range, fewer a line each.
std::vector<Curves> curves_of(const std::vector<RunData>& runs) {
  std::vector<Curves> all;
  for (const RunGroup& group : groups_of(runs)) {
    const bool is_one = group.runs.size() >= kRepetitions;
    if (is_one) all.push_back({group.name, {}, {}, {}});
    for (const RunData& run : group.runs) {
      if (!is_one) all.push_back({run.run, {}, {}, {}});
      all.back().add(run);
    }
  }
  return all;
}

void add(Panel& panel, const std::string& name, const Values& values) {
  if (values.empty()) return;
  Series series{name, Series::Style::line, {}};
  for (const auto& [epoch, of_runs] : values)
    series.points.push_back(median_point(static_cast<double>(epoch), of_runs));
  panel.series.push_back(std::move(series));
}

Panel panel_with(std::string label) {
  Panel panel;
  panel.x_label = "epoch";
  panel.counts_x = true;
  panel.y_label = std::move(label);
  return panel;
}

}  // namespace

Plot curves_plot(const std::vector<RunData>& all) {
  std::vector<RunData> runs = all;
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunData& a, const RunData& b) { return a.started < b.started; });
  std::vector<Curves> curves = curves_of(runs);
  while (curves.size() > kMostLines) {  // the latest ones
    runs.erase(runs.begin(),
               runs.begin() + static_cast<std::ptrdiff_t>(curves.size() - kMostLines));
    curves = curves_of(runs);
  }
  Panel losses = panel_with("loss");
  std::map<std::string, Panel> measures;
  for (const Curves& one : curves) {
    add(losses, one.name + ", training", one.train);
    add(losses, one.name + ", validation", one.validation);
    for (const auto& [label, values] : one.measures)
      add(measures.try_emplace(label, panel_with(label)).first->second, one.name, values);
  }
  if (losses.series.empty()) throw NothingToPlot("no finished run has an epoch with a loss");
  Plot plot;
  plot.title = "Loss and accuracy: " + common_about(runs);
  plot.source = source_of(runs);
  if (runs.size() < all.size()) plot.source += fmt::format(", the latest of {}", all.size());
  plot.source += "; median with minimum and maximum of three runs or more";
  plot.panels.push_back(std::move(losses));
  for (auto& [label, panel] : measures) plot.panels.push_back(std::move(panel));
  return plot;
}

}  // namespace hpcboot::plots
