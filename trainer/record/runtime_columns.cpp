#include "record/runtime_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/run_work.hpp"

namespace hpcboot::record {
namespace {

using Row = const RuntimeRow&;

template <typename T>
Json raw(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::string text_or_dash(const std::string& text) {
  return text.empty() ? "–" : text;
}

std::string rounded(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "–";
}

std::string percent(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.0f}%", *ratio * 100.0) : "–";
}

constexpr const char* kImageRate = "Images/s";

/// "Images/s", as of no run; "Samples/s" if the runs train on different things.
std::string rate_title(const std::vector<RuntimeRow>& rows) {
  if (rows.empty()) return kImageRate;
  const std::string& sample = rows.front().sample;
  const auto other =
      std::find_if(rows.begin(), rows.end(), [&](Row row) { return row.sample != sample; });
  std::string title = rate_unit(sample, other == rows.end() ? sample : other->sample);
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

}  // namespace

std::string duration_text(const std::optional<double>& seconds) {
  constexpr double kMost = 1e12;  // beyond, it is no duration
  if (!seconds || !(*seconds < kMost)) return "–";
  if (*seconds < 59.95) return fmt::format("{:.1f} s", *seconds);
  const long whole = std::lround(*seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

// The name of the run comes last because it is long, and people compare the figures.
const std::vector<RuntimeColumn>& runtime_columns() {
  static const std::vector<RuntimeColumn> columns{
      {"nodes", "Nodes", true, true, [](Row row) { return Json(row.nodes); },
       [](Row row) { return std::to_string(row.nodes); }},
      {"devices_per_node", "Devices/node", true, true,
       [](Row row) { return Json(row.devices_per_node); },
       [](Row row) { return std::to_string(row.devices_per_node); }},
      {"method", "Method", false, true, [](Row row) { return Json(row.method); },
       [](Row row) { return text_or_dash(row.method); }},
      {"model", "Model", false, true, [](Row row) { return Json(row.model); },
       [](Row row) { return text_or_dash(row.model); }},
      {"launcher", "Launcher", false, true, [](Row row) { return Json(row.launcher); },
       [](Row row) { return text_or_dash(row.launcher); }},
      {"site", "Site", false, true, [](Row row) { return raw(row.site); },
       [](Row row) { return text_or_dash(row.site.value_or("")); }},
      {"epochs", "Epochs", true, true, [](Row row) { return raw(row.epochs); },
       [](Row row) { return row.epochs ? std::to_string(*row.epochs) : "–"; }},
      {"runtime_seconds", "Runtime", true, false, [](Row row) { return raw(row.runtime_seconds); },
       [](Row row) { return duration_text(row.runtime_seconds); }, "*",
       [](Row row) { return !row.busy_hosts.empty(); },
       "Other programs kept hosts of the run busy; its run.json says which (hosts[].busy)."},
      {"images_per_second", kImageRate, true, false,
       [](Row row) { return raw(row.images_per_second); },
       [](Row row) { return rounded(row.images_per_second, 1); }},
      {"speedup", "Speed-up", true, false, [](Row row) { return raw(row.speedup); },
       [](Row row) { return rounded(row.speedup, 2); }, "‡",
       [](Row row) { return row.has_changed_devices; },
       "The run was resumed on another number of devices, so its time is that of none of them."},
      {"efficiency", "Efficiency", true, false, [](Row row) { return raw(row.efficiency); },
       [](Row row) { return percent(row.efficiency); }, "†",
       [](Row row) { return row.is_superlinear(); },
       "Above 100% by more than noise (5%) explains: the single-device run was slower than it "
       "should "
       "be, for example on a busy host."},
      {"run", "Run", false, false, [](Row row) { return Json(row.run); },
       [](Row row) { return text_or_dash(row.run); }},
      {"busy_hosts", "", false, false, [](Row row) { return Json(row.busy_hosts); }, nullptr},
  };
  return columns;
}

std::vector<RuntimeColumn> shown_columns(const std::vector<RuntimeRow>& rows) {
  std::vector<RuntimeColumn> columns = runtime_columns();
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [](const RuntimeColumn& column) { return column.title.empty(); }),
                columns.end());
  const auto rate = std::find_if(columns.begin(), columns.end(), [](const RuntimeColumn& column) {
    return column.title == kImageRate;
  });
  rate->title = rate_title(rows);
  return columns;
}

std::string cell_text(const RuntimeColumn& column, Row row) {
  const bool is_marked = column.mark != nullptr && column.is_marked(row);
  return (is_marked ? column.mark : "") + column.shown(row);
}

std::vector<std::string> footnotes(const std::vector<RuntimeRow>& rows) {
  std::vector<std::string> lines;
  for (const RuntimeColumn& column : runtime_columns()) {
    if (column.mark != nullptr && std::any_of(rows.begin(), rows.end(), column.is_marked))
      lines.push_back(fmt::format("{} {}", column.mark, column.footnote));
  }
  return lines;
}

}  // namespace hpcboot::record
