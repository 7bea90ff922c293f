#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plots/plot.hpp"
#include "plots/run_data.hpp"
#include "record/read_runs.hpp"

namespace hpcboot::plots {

/// There is nothing to plot: the text says what is missing, and how to get it.
struct NothingToPlot : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Each throws NothingToPlot; those that read monitor.csv also Error{unreadable_file,
// malformed_file}.

/// Runtime by layout, and samples per second. Repetitions are one bar with their range.
Plot runtime_plot(const std::vector<RunData>& runs);
/// Speed-up and efficiency of the same work on more devices, compared with the fewest.
Plot strong_scaling_plot(const std::vector<RunData>& runs);
/// Efficiency of more devices with as many samples each, compared with the fewest.
Plot weak_scaling_plot(const std::vector<RunData>& runs);
/// Loss and measures by epoch.
Plot curves_plot(const std::vector<RunData>& runs);
/// What a step consists of.
Plot steps_plot(const std::vector<RunData>& runs);
/// What ranks, hosts and GPUs did over the time of a run.
Plot monitor_plot(const std::vector<RunData>& runs);
/// How far load, memory, temperature and time of a run change together.
Plot correlation_plot(const std::vector<RunData>& runs);

/// A plot that users can choose.
struct PlotKind {
  std::string name;
  std::string about;  ///< a clause
  record::Runs runs;  ///< which it can show
  Plot (*make)(const std::vector<RunData>& runs);
};

const std::vector<PlotKind>& plot_kinds();

}  // namespace hpcboot::plots
