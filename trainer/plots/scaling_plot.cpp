#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "record/run_work.hpp"

namespace hpcboot::plots {
namespace {

/// Runs that form one line: DP or DDP of one kind of work, and the runs on one device.
struct Line {
  std::string method;  ///< empty: of one device
  std::string work;    ///< what distinguishes its work from that of others
  std::map<std::int64_t, std::vector<double>> runtimes;  ///< by number of devices
  std::vector<const RunData*> runs;

  double base() const { return median_point(0, runtimes.begin()->second).y; }
  auto fewest() const { return static_cast<double>(runtimes.begin()->first); }
};

/// The work of a run, for its line: a key, and a text that distinguishes it from others.
struct Work {
  std::string key;
  std::string text;
};

void add_runs(Line& line, const Line& others) {
  for (const auto& [devices, runtimes] : others.runtimes) {
    std::vector<double>& all = line.runtimes[devices];
    all.insert(all.end(), runtimes.begin(), runtimes.end());
  }
  line.runs.insert(line.runs.end(), others.runs.begin(), others.runs.end());
}

/// The runs of one kind of work, by method and site.
using Methods = std::map<std::pair<std::string, std::string>, Line>;

/// The runs on one device with which those of a site are compared: its own, if there are any.
Line on_one_device(const Methods& methods, const std::string& site) {
  if (const auto own = methods.find({"", site}); own != methods.end()) return own->second;
  Line all;
  for (const auto& [key, line] : methods) {
    if (key.first.empty()) add_runs(all, line);
  }
  return all;
}

/// @param work nothing for runs that cannot be compared
std::vector<Line> lines_of(const std::vector<RunData>& runs,
                           const std::function<std::optional<Work>(const RunData&)>& work) {
  const bool names_site = std::any_of(
      runs.begin(), runs.end(), [&](const RunData& run) { return run.site != runs.front().site; });
  std::map<std::string, Methods> by_work;
  for (const RunData& run : runs) {
    const std::optional<Work> own = work(run);
    if (!own || run.runtime_seconds.value_or(0) < record::kShortestRuntime) continue;
    const std::string method = run.devices == 1 ? "" : run.method;
    Line& line = by_work[run.device_kind + "\n" + own->key][{method, run.site}];
    line.method = method;
    line.work = run.about + ", " + own->text + ", " + run.device_kind;
    if (names_site && !run.site.empty()) line.work += " at " + run.site;
    line.runtimes[run.devices].push_back(*run.runtime_seconds);
    line.runs.push_back(&run);
  }
  std::vector<Line> lines;
  for (const auto& [key, methods] : by_work) {
    for (const auto& [method_and_site, line] : methods) {
      if (line.method.empty()) continue;
      Line whole = line;
      add_runs(whole, on_one_device(methods, method_and_site.second));
      if (whole.runtimes.size() >= 2) lines.push_back(std::move(whole));
    }
  }
  return lines;
}

std::string newest_of(const Line& line) {
  std::string newest;
  for (const RunData* run : line.runs) newest = std::max(newest, run->started);
  return newest;
}

/// What a scaling plot shows: lines, and all their runs.
struct Shown {
  std::vector<Line> lines;
  std::vector<RunData> runs;
  std::string omitted{};  ///< for the source; empty if nothing is
};

/// The newest lines, if there are too many.
Shown shown_of(std::vector<Line> lines) {
  Shown shown;
  if (lines.size() > kMostLines) {
    shown.omitted = fmt::format("; the {} newest of {} lines", kMostLines, lines.size());
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return newest_of(a) > newest_of(b); });
    lines.resize(kMostLines);
  }
  std::set<const RunData*> runs;
  for (const Line& line : lines) runs.insert(line.runs.begin(), line.runs.end());
  for (const RunData* run : runs) shown.runs.push_back(*run);
  shown.lines = std::move(lines);
  return shown;
}

std::string name_of(const Line& line, const std::vector<Line>& lines) {
  const bool is_one_work = std::all_of(lines.begin(), lines.end(),
                                       [&](const Line& other) { return other.work == line.work; });
  return is_one_work ? line.method : line.method + ", " + line.work;
}

/// A value of a runtime on a number of devices; `base` is the median runtime on the fewest.
using Value = std::function<double(double base, double fewest, double runtime, double devices)>;

Series series_of(const Line& line, const std::string& name, const Value& value) {
  Series series{name, Series::Style::line, {}, {}};
  const double base = line.base();
  for (const auto& [devices, runtimes] : line.runtimes) {
    const auto x = static_cast<double>(devices);
    const auto of = [&, fewest = line.fewest()](double runtime) {
      return value(base, fewest, runtime, x);
    };
    // The median of quotients is not the quotient of medians.
    const Point runtime = median_point(x, runtimes);
    Point point{x, of(runtime.y)};
    if (runtime.low && runtime.high) {
      point.low = std::min(of(*runtime.low), of(*runtime.high));
      point.high = std::max(of(*runtime.low), of(*runtime.high));
    }
    series.points.push_back(point);
  }
  return series;
}

/// Runs of which there are fewer than three on as many devices.
Series single_runs(const std::vector<Line>& lines, const Value& value) {
  Series series{"a run (fewer than three)", Series::Style::points, {}, {}};
  for (const Line& line : lines) {
    const double base = line.base();
    for (const auto& [devices, runtimes] : line.runtimes) {
      if (runtimes.size() >= kRepetitions || runtimes.size() < 2) continue;
      const auto x = static_cast<double>(devices);
      for (const double runtime : runtimes)
        series.points.push_back({x, value(base, line.fewest(), runtime, x)});
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
  Series series{"ideal", Series::Style::ideal, {}, {}};
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
  for (const Line& line : lines)
    panel.series.push_back(series_of(line, name_of(line, lines), value));
  if (best) panel.series.push_back(ideal(lines, best));
  Series points = single_runs(lines, value);
  if (!points.points.empty()) panel.series.push_back(std::move(points));
  return panel;
}

/// A plot of these lines, as yet without diagrams.
/// @param missing what to say if there are none
/// @throws NothingToPlot
Plot plot_of(const Shown& shown, const char* name, const char* missing) {
  if (shown.lines.empty()) throw NothingToPlot(missing);
  Plot plot;
  plot.title = name + (": " + common_about(shown.runs));
  plot.source = source_of(shown.runs) + "; median, of three runs or more with minimum and maximum" +
                shown.omitted;
  return plot;
}

}  // namespace

Plot strong_scaling_plot(const std::vector<RunData>& runs) {
  const Shown shown = shown_of(lines_of(runs, [](const RunData& run) -> std::optional<Work> {
    return Work{run.work, run.samples ? fmt::format("{} {}s", *run.samples, run.sample) : ""};
  }));
  Plot plot = plot_of(
      shown, "Strong scaling",
      "no work was done on two different numbers of devices; train the same model, epochs and "
      "samples on 1, 2, 4, … devices");
  const Value speedup = [](double base, double fewest, double runtime, double /*devices*/) {
    return fewest * base / runtime;
  };
  const Value efficiency = [](double base, double fewest, double runtime, double devices) {
    return 100 * fewest * base / runtime / devices;
  };
  plot.panels = {
      panel_of(shown.lines, "speed-up (ideal on the fewest devices)", speedup,
               [](double devices) { return devices; }),
      panel_of(shown.lines, "efficiency, %", efficiency, [](double /*devices*/) { return 100.0; })};
  plot.panels[0].is_log_y = true;
  plot.panels[1].is_from_zero = true;
  return plot;
}

Plot weak_scaling_plot(const std::vector<RunData>& runs) {
  const Shown shown = shown_of(lines_of(runs, [](const RunData& run) -> std::optional<Work> {
    if (!run.samples || *run.samples < run.devices) return std::nullopt;
    // A sample more or less on all devices together is the same work.
    const std::string samples = std::to_string(*run.samples / run.devices);
    return Work{run.training + samples, samples + " " + run.sample + "s for each device"};
  }));
  Plot plot = plot_of(shown, "Weak scaling",
                      "no two runs have as many samples for each device; train with "
                      "--limit-samples N on 1 device, 2 N on 2, 4 N on 4");
  const Value runtime = [](double, double, double seconds, double) { return seconds; };
  const Value efficiency = [](double base, double, double seconds, double) {
    return 100 * base / seconds;
  };
  // Lines of other work have another ideal.
  const double base = shown.lines.front().base();
  const bool is_one_base = std::all_of(shown.lines.begin(), shown.lines.end(),
                                       [&](const Line& line) { return line.base() == base; });
  std::function<double(double)> ideal_runtime;
  if (is_one_base) ideal_runtime = [base](double) { return base; };
  plot.panels = {panel_of(shown.lines, "runtime, s", runtime, ideal_runtime),
                 panel_of(shown.lines, "efficiency, %", efficiency, [](double) { return 100.0; })};
  for (Panel& panel : plot.panels) panel.is_from_zero = true;
  return plot;
}

}  // namespace hpcboot::plots
