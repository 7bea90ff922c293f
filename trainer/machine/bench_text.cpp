#include "machine/bench_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "text/format.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot::machine {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

/// A figure of a row that users compare; nothing if it does not count.
struct Figure {
  const char* key;
  std::string title;
  std::optional<double> (*value)(const BenchRow&);
};

template <double BenchRow::*amount>
std::optional<double> per_second(const BenchRow& row) {
  if (!(row.*amount > 0) || !(row.timing.median > 0)) return std::nullopt;
  return row.*amount / row.timing.median;
}

std::optional<double> gigabytes(const BenchRow& row) {
  const auto rate = per_second<&BenchRow::bytes>(row);
  return rate ? std::optional(*rate / kGiga) : std::nullopt;
}

std::optional<double> teraflops(const BenchRow& row) {
  const auto rate = per_second<&BenchRow::flop>(row);
  return rate ? std::optional(*rate / kTera) : std::nullopt;
}

/// Of what the data sheet promises, in %.
std::optional<double> share(const BenchRow& row) {
  const auto rate =
      row.flop > 0 ? per_second<&BenchRow::flop>(row) : per_second<&BenchRow::bytes>(row);
  return rate && row.promised ? std::optional(100 * *rate / *row.promised) : std::nullopt;
}

/// How far the shortest and the longest time differ, in % of the median.
std::optional<double> spread(const BenchRow& row) {
  if (row.timing.samples < 2 || !(row.timing.median > 0)) return std::nullopt;
  return 100 * (row.timing.high - row.timing.low) / row.timing.median;
}

/// The figures that any row has.
std::vector<Figure> figures_of(const BenchResult& result) {
  const std::vector<Figure> all{
      {"spread_percent", "Spread %", spread},
      {"items_per_second", result.items_name, per_second<&BenchRow::items>},
      {"gigabytes_per_second", result.bytes_name, gigabytes},
      {"teraflops_per_second", "TFLOP/s", teraflops},
      {"data_sheet_percent", "% of sheet", share}};
  std::vector<Figure> shown;
  for (const Figure& figure : all) {
    const bool is_known =
        std::any_of(result.rows.begin(), result.rows.end(),
                    [&](const BenchRow& row) { return figure.value(row).has_value(); });
    if (is_known) shown.push_back(figure);
  }
  return shown;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", 1e6 * seconds);
  return seconds < 1 ? fmt::format("{:.2f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}

std::string number_text(const std::optional<double>& value) {
  if (!value) return "–";
  if (*value >= 1000) return fmt::format("{:.0f}", *value);
  return *value >= 1 ? fmt::format("{:.3g}", *value) : fmt::format("{:.2g}", *value);
}

std::string csv_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

}  // namespace

Encoded bench_table(const BenchResult& result, const Look& look) {
  const std::vector<Figure> figures = figures_of(result);
  std::vector<Align> alignment(result.columns.size(), Align::left);
  alignment.back() = Align::right;
  std::vector<std::string> titles = result.columns;
  titles.emplace_back("Time");
  for (const Figure& figure : figures) titles.push_back(figure.title);
  alignment.resize(titles.size(), Align::right);
  TextTable table(alignment);
  table.add_titles(titles);
  for (const BenchRow& row : result.rows) {
    std::vector<std::string> cells = row.what;
    cells.push_back(time_text(row.timing.median));
    for (const Figure& figure : figures) cells.push_back(number_text(figure.value(row)));
    table.add(cells);
  }
  Encoded text = encoded_format("{}: {}\n", result.kind, result.device) + table.text(look);
  for (const std::string& line : wrapped(result.note, std::min<std::size_t>(look.width, 80)))
    text += encoded_format("{}\n", line);
  return text;
}

Encoded bench_csv(const BenchResult& result) {
  const std::vector<Figure> figures = figures_of(result);
  std::string text;
  for (const std::string& column : result.columns) text += csv_field(column) + ",";
  text += "seconds,seconds_low,seconds_high,samples";
  for (const Figure& figure : figures) text += std::string(",") + figure.key;
  text += "\n";
  for (const BenchRow& row : result.rows) {
    for (const std::string& value : row.what) text += csv_field(value) + ",";
    text += fmt::format("{},{},{},{}", row.timing.median, row.timing.low, row.timing.high,
                        row.timing.samples);
    for (const Figure& figure : figures) text += "," + csv_number(figure.value(row));
    text += "\n";
  }
  return terminal_lines(text);
}

Json bench_json(const BenchResult& result) {
  Json rows = Json::array();
  const std::vector<Figure> figures = figures_of(result);
  for (const BenchRow& row : result.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < result.columns.size(); ++i) object[result.columns[i]] = row.what[i];
    object["seconds"] = row.timing.median;
    object["seconds_low"] = row.timing.low;
    object["seconds_high"] = row.timing.high;
    object["samples"] = row.timing.samples;
    for (const Figure& figure : figures) {
      const auto value = figure.value(row);
      object[figure.key] = value ? Json(*value) : Json();
    }
    rows.push_back(std::move(object));
  }
  return {{"kind", result.kind}, {"device", result.device}, {"note", result.note}, {"rows", rows}};
}

plots::Plot bench_plot(const BenchResult& result) {
  plots::Panel panel;
  panel.x_label = result.columns.back();
  panel.is_log_x = panel.is_log_y = true;
  const bool counts_flop = std::any_of(result.rows.begin(), result.rows.end(),
                                       [](const BenchRow& row) { return row.flop > 0; });
  const bool counts_items = !result.items_name.empty();
  panel.y_label = counts_flop ? "TFLOP/s" : counts_items ? result.items_name : result.bytes_name;
  std::map<std::string, std::size_t> places;
  for (const BenchRow& row : result.rows) {
    const auto value = counts_flop    ? teraflops(row)
                       : counts_items ? per_second<&BenchRow::items>(row)
                                      : gigabytes(row);
    if (!value) continue;
    std::string name;
    for (std::size_t i = 0; i + 1 < row.what.size(); ++i)
      name += (name.empty() ? "" : ", ") + row.what[i];
    const auto [place, is_new] = places.emplace(name, panel.series.size());
    if (is_new) panel.series.push_back({name, plots::Series::Style::line, {}, {}});
    const double rate = *value;
    plots::Point point{row.size, rate};
    if (row.timing.samples >= 3 && row.timing.high > 0 && row.timing.low > 0) {
      point.low = rate * row.timing.median / row.timing.high;
      point.high = rate * row.timing.median / row.timing.low;
    }
    panel.series[place->second].points.push_back(point);
  }
  return {result.kind + ": " + result.device, result.note, {panel}};
}

}  // namespace hpcboot::machine
