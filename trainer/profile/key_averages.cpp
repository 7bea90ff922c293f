#include "profile/key_averages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace hpcboot::profile {
namespace {

constexpr double kMicro = 1e3;  // nanoseconds
constexpr double kMilli = 1e6;

/// What has a name in the program, and was called. A collective is not: it lasts while other
/// things are called.
bool is_called(const TraceEvent& event) {
  return event.device < 0 && event.kind != EventKind::collective &&
         event.kind != EventKind::runtime;
}

std::string time_text(std::int64_t nanoseconds) {
  return fmt::format("{:.3f}", static_cast<double>(nanoseconds) / kMilli);
}

/// The end of a long name, which distinguishes it from others.
std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 36;  // so that a row has 80 columns
  return name.size() <= kMost ? name : "…" + name.substr(name.size() - kMost + 1);
}

}  // namespace

std::vector<KeyAverage> key_averages(const Recording& recording) {
  std::map<std::string, KeyAverage> by_name;
  std::unordered_map<std::uint64_t, std::string> launched_by;   // by correlation
  std::map<std::int64_t, std::vector<const TraceEvent*>> open;  // by lane, the innermost last
  for (const TraceEvent& event : recording.events) {
    if (!is_called(event)) continue;
    KeyAverage& average = by_name[event.name];
    average.name = event.name;
    ++average.calls;
    average.total += event.duration;
    average.self += event.duration;
    average.flops += event.flops;
    auto& stack = open[event.lane];
    while (!stack.empty() && stack.back()->end() <= event.begin) stack.pop_back();
    if (!stack.empty()) by_name[stack.back()->name].self -= event.duration;
    stack.push_back(&event);
    if (event.correlation != 0) launched_by[event.correlation] = event.name;
  }
  bool has_gpu = false;
  for (const TraceEvent& event : recording.events) {
    if (event.kind != EventKind::kernel && event.kind != EventKind::copy) continue;
    has_gpu = true;
    const auto operation = launched_by.find(event.correlation);
    if (operation != launched_by.end()) by_name[operation->second].gpu += event.duration;
  }
  std::vector<KeyAverage> averages;
  for (auto& [name, average] : by_name) averages.push_back(std::move(average));
  std::stable_sort(averages.begin(), averages.end(),
                   [has_gpu](const KeyAverage& a, const KeyAverage& b) {
                     return has_gpu && a.gpu != b.gpu ? a.gpu > b.gpu : a.self > b.self;
                   });
  return averages;
}

Encoded key_averages_table(const std::vector<KeyAverage>& averages, std::size_t most,
                           const Look& look) {
  const bool has_gpu =
      std::any_of(averages.begin(), averages.end(), [](const KeyAverage& a) { return a.gpu > 0; });
  std::int64_t all = 0;
  for (const KeyAverage& one : averages) all += one.self;
  std::vector<Align> columns{Align::left, Align::right, Align::right, Align::right, Align::right};
  std::vector<std::string> titles{"operator", "calls", "self ms", "self %", "total ms"};
  if (has_gpu) {
    columns.push_back(Align::right);
    titles.emplace_back("GPU ms");
  }
  columns.push_back(Align::right);
  titles.emplace_back("GFLOP");
  TextTable table(columns);
  table.add_titles(titles);
  for (std::size_t i = 0; i < std::min(most, averages.size()); ++i) {
    const KeyAverage& one = averages[i];
    const double share = all == 0 ? 0 : static_cast<double>(one.self) / static_cast<double>(all);
    std::vector<std::string> cells{short_name(one.name), fmt::format("{}", one.calls),
                                   time_text(one.self), fmt::format("{:.1f}", 100 * share),
                                   time_text(one.total)};
    if (has_gpu) cells.push_back(time_text(one.gpu));
    cells.push_back(one.flops == 0 ? "–"
                                   : fmt::format("{:.3f}", static_cast<double>(one.flops) / 1e9));
    table.add(cells);
  }
  return table.text(look);
}

std::string key_averages_csv(const std::vector<KeyAverage>& averages) {
  std::string text = "operator,calls,self_us,total_us,gpu_us,flops\n";
  for (const KeyAverage& one : averages) {
    const auto micro = [](std::int64_t time) { return static_cast<double>(time) / kMicro; };
    text += fmt::format("{},{},{:.3f},{:.3f},{:.3f},{}\n", csv_field(one.name), one.calls,
                        micro(one.self), micro(one.total), micro(one.gpu), one.flops);
  }
  return text;
}

}  // namespace hpcboot::profile
