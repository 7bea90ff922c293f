#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "plots/run_groups.hpp"

namespace hpcboot::plots {
namespace {

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
std::vector<Curves> curves_of(const RunGroup& group) {
  std::vector<Curves> all;
  const bool is_one = group.runs.size() >= kRepetitions;
  if (is_one) all.push_back({group.name, {}, {}, {}});
  for (const RunData& run : group.runs) {
    if (!is_one) all.push_back({run.run, {}, {}, {}});
    all.back().add(run);
  }
  return all;
}

std::string newest_of(const RunGroup& group) {
  std::string newest;
  for (const RunData& run : group.runs) newest = std::max(newest, run.started);
  return newest;
}

void add(Panel& panel, const std::string& name, const Values& values, std::size_t look) {
  if (values.empty()) return;
  Series series{name, Series::Style::line, {}, look};
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
  std::vector<RunGroup> groups = groups_of(all);
  std::stable_sort(groups.begin(), groups.end(), [](const RunGroup& a, const RunGroup& b) {
    return newest_of(a) > newest_of(b);
  });
  std::vector<RunData> runs;
  std::vector<Curves> curves;
  for (const RunGroup& group : groups) {
    std::vector<Curves> more = curves_of(group);
    if (!curves.empty() && curves.size() + more.size() > kMostLines) break;
    runs.insert(runs.end(), group.runs.begin(), group.runs.end());
    for (Curves& one : more) curves.push_back(std::move(one));
  }
  Panel losses = panel_with("loss");
  std::map<std::string, Panel> measures;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curves& one = curves[i];
    add(losses, one.name + ", training", one.train, i);
    add(losses, one.name + ", validation", one.validation, i);
    for (const auto& [label, values] : one.measures)
      add(measures.try_emplace(label, panel_with(label)).first->second, one.name, values, i);
  }
  if (losses.series.empty()) throw NothingToPlot("no finished run has an epoch with a loss");
  Plot plot;
  plot.title = "Loss and measures: " + common_about(runs);
  plot.source = source_of(runs);
  if (runs.size() < all.size()) plot.source += fmt::format(", the newest of {}", all.size());
  plot.source += "; of three repetitions or more, median with minimum and maximum";
  plot.panels.push_back(std::move(losses));
  for (auto& [label, panel] : measures) plot.panels.push_back(std::move(panel));
  return plot;
}

}  // namespace hpcboot::plots
