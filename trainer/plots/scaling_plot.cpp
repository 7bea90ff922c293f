#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"

namespace hpcboot::plots {
namespace {

/// Runs that form one line, by number of devices.
struct Line {
  std::string method;  ///< empty: of one device
  std::map<std::int64_t, std::vector<double>> runtimes;
  std::vector<RunData> runs;
};

/// The lines: for each kind of work one for DP, and one for DDP, both from the runs on one device.
/// @param work equal for runs of one line
std::vector<Line> lines_of(const std::vector<RunData>& runs,
                           const std::function<std::string(const RunData&)>& work) {
  std::map<std::string, std::map<std::string, Line>> by_work;
  for (const RunData& run : runs) {
    if (!run.runtime_seconds || *run.runtime_seconds <= 0) continue;
    const std::string method = run.devices == 1 ? "" : run.method;
    Line& line = by_work[work(run)][method];
    line.method = method;
    line.runtimes[run.devices].push_back(*run.runtime_seconds);
    line.runs.push_back(run);
  }
  std::vector<Line> lines;
  for (auto& [key, methods] : by_work) {
    const Line one_device = methods[""];
    for (auto& [method, line] : methods) {
      if (method.empty()) continue;
      line.runtimes.insert(one_device.runtimes.begin(), one_device.runtimes.end());
      line.runs.insert(line.runs.end(), one_device.runs.begin(), one_device.runs.end());
      if (line.runtimes.size() >= 2) lines.push_back(std::move(line));
    }
  }
  return lines;
}

/// All runs of the lines, each once.
std::vector<RunData> runs_of(const std::vector<Line>& lines) {
  std::map<std::string, RunData> by_folder;
  for (const Line& line : lines) {
    for (const RunData& run : line.runs) by_folder.emplace(run.folder.string(), run);
  }
  std::vector<RunData> runs;
  for (auto& [folder, run] : by_folder) runs.push_back(std::move(run));
  return runs;
}

/// What distinguishes the line from the others.
std::string name_of(const Line& line, const std::vector<Line>& lines) {
  const auto is_other = [&](const Line& other) {
    return other.runs.front().work != line.runs.front().work;
  };
  const bool is_one_work = std::none_of(lines.begin(), lines.end(), [&](const Line& other) {
    return other.method == line.method && is_other(other);
  });
  if (is_one_work) return line.method;
  const RunData& run = line.runs.front();
  return fmt::format("{}, {}, {} {}s", line.method, run.about, run.samples.value_or(0), run.sample);
}

/// A value of a runtime on a number of devices, compared with the runtime `base` on the fewest.
using Value = std::function<double(double base, double fewest, double runtime, double devices)>;

double base_of(const Line& line) {
  return median_point(0, line.runtimes.begin()->second).y;
}

Series series_of(const Line& line, const std::vector<Line>& lines, const Value& value) {
  Series series{name_of(line, lines), Series::Style::line, {}};
  const double base = base_of(line);
  const auto first = static_cast<double>(line.runtimes.begin()->first);
  for (const auto& [devices, runtimes] : line.runtimes) {
    std::vector<double> values;
    for (const double runtime : runtimes)
      values.push_back(value(base, first, runtime, static_cast<double>(devices)));
    series.points.push_back(median_point(static_cast<double>(devices), values));
  }
  return series;
}

/// Runs of which there are fewer than three on as many devices.
Series single_runs(const Line& line, const Value& value) {
  Series series{"a run (fewer than three)", Series::Style::points, {}};
  const auto first = static_cast<double>(line.runtimes.begin()->first);
  for (const auto& [devices, runtimes] : line.runtimes) {
    if (runtimes.size() >= kRepetitions) continue;
    for (const double runtime : runtimes) {
      const auto x = static_cast<double>(devices);
      series.points.push_back({x, value(base_of(line), first, runtime, x)});
    }
  }
  return series;
}

/// The ideal line from the fewest to the most devices.
Series ideal(const std::vector<Line>& lines, const std::function<double(double devices)>& value) {
  std::set<std::int64_t> devices;
  for (const Line& line : lines) {
    for (const auto& [number, runtimes] : line.runtimes) devices.insert(number);
  }
  Series series{"ideal", Series::Style::ideal, {}};
  for (const std::int64_t number : devices)
    series.points.push_back({static_cast<double>(number), value(static_cast<double>(number))});
  return series;
}

Panel panel_of(const std::vector<Line>& lines, std::string label, const Value& value,
               const std::function<double(double)>& best) {
  Panel panel;
  panel.x_label = "devices";
  panel.y_label = std::move(label);
  panel.is_log_x = true;
  panel.series.push_back(ideal(lines, best));
  for (const Line& line : lines) panel.series.push_back(series_of(line, lines, value));
  for (const Line& line : lines) {
    Series points = single_runs(line, value);
    if (points.points.empty()) continue;
    if (panel.series.back().style == Series::Style::points) points.name.clear();
    panel.series.push_back(std::move(points));
  }
  return panel;
}

std::string source_with_ranges(const std::vector<RunData>& runs) {
  return source_of(runs) + "; median with minimum and maximum of three runs or more";
}

}  // namespace

Plot strong_scaling_plot(const std::vector<RunData>& runs) {
  const std::vector<Line> lines = lines_of(runs, [](const RunData& run) { return run.work; });
  if (lines.empty()) {
    throw NothingToPlot(
        "no work was done on two different numbers of devices; train the same model, epochs and "
        "samples on 1, 2, 4, … devices");
  }
  std::int64_t fewest = lines.front().runtimes.begin()->first;
  for (const Line& line : lines) fewest = std::min(fewest, line.runtimes.begin()->first);
  Plot plot;
  plot.title = "Strong scaling: " + common_about(runs_of(lines));
  plot.source = source_with_ranges(runs_of(lines));
  const Value speedup = [](double base, double first, double runtime, double /*devices*/) {
    return first * base / runtime;
  };
  const Value efficiency = [](double base, double first, double runtime, double devices) {
    return 100 * first * base / runtime / devices;
  };
  plot.panels = {
      panel_of(lines, fmt::format("speed-up over {} device{}", fewest, fewest == 1 ? "" : "s"),
               speedup, [](double devices) { return devices; }),
      panel_of(lines, "efficiency, %", efficiency, [](double /*devices*/) { return 100.0; })};
  plot.panels[0].is_log_y = true;
  return plot;
}

Plot weak_scaling_plot(const std::vector<RunData>& runs) {
  const auto work_of_device = [](const RunData& run) {
    const std::int64_t samples = run.samples.value_or(0) / std::max<std::int64_t>(1, run.devices);
    return run.training + std::to_string(samples);
  };
  const std::vector<Line> lines = lines_of(runs, work_of_device);
  if (lines.empty()) {
    throw NothingToPlot(
        "no two runs have as many samples for each device; train with --limit-samples N on 1 "
        "device, 2 N on 2, 4 N on 4");
  }
  Plot plot;
  plot.title = "Weak scaling: " + common_about(runs_of(lines));
  plot.source = source_with_ranges(runs_of(lines));
  const Value runtime = [](double, double, double seconds, double) { return seconds; };
  const Value efficiency = [](double base, double, double seconds, double) {
    return 100 * base / seconds;
  };
  const double base = base_of(lines.front());
  plot.panels = {panel_of(lines, "runtime, s", runtime, [base](double) { return base; }),
                 panel_of(lines, "efficiency, %", efficiency, [](double) { return 100.0; })};
  return plot;
}

}  // namespace hpcboot::plots
