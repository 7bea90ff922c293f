#include "plots/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "hpcboot/error.hpp"
#include "plots/gnuplot_script.hpp"
#include "process/command.hpp"
#include "record/atomic_file.hpp"
#include "text/format.hpp"
#include "text/terminal.hpp"

namespace hpcboot::plots {
namespace {

constexpr std::size_t kMostColumns = 80;
constexpr std::size_t kBar = 30;  // columns of the longest one

std::string output_of_gnuplot(std::string script) {
  CommandOptions options;
  options.input = std::move(script);
  options.limit = std::chrono::seconds(60);
  const CommandResult result = run_command({"gnuplot"}, options);
  if (result.is_ok()) return result.output;
  if (!result.is_started) {
    throw Error(ErrorCode::backend_unavailable, "there is no gnuplot, which draws the plots",
                "gnuplot 5.0 or newer in PATH",
                "install gnuplot (Debian: apt-get install gnuplot-nox), or load its module");
  }
  throw Error(ErrorCode::backend_unavailable, "gnuplot failed: " + failure_of(result),
              "gnuplot 5.0 or newer, with the terminals svg and pngcairo",
              "try another version of gnuplot, or --output with the other ending");
}

Picture picture_of(const std::filesystem::path& file) {
  return file.extension() == ".png" ? Picture::png : Picture::svg;
}

std::string text_of(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string bar(double value, double longest) {
  if (!(value > 0) || !(longest > 0)) return "";
  std::string text;
  const auto length =
      static_cast<std::size_t>(std::lround(static_cast<double>(kBar) * value / longest));
  for (std::size_t i = 0; i < length; ++i) text += "█";
  return text.empty() ? "▏" : text;
}

/// A row for each category: its values, and a bar of their sum.
Encoded bars_text(const Panel& panel, const Look& look) {
  std::vector<Align> columns{Align::left};
  std::vector<std::string> titles{""};
  std::vector<const Series*> shown;
  for (const Series& series : panel.series) {
    if (panel.kind == Panel::Kind::bars && series.style != Series::Style::line) continue;
    shown.push_back(&series);
    columns.push_back(Align::right);
    titles.push_back(series.name);
  }
  columns.push_back(Align::left);
  titles.emplace_back("");
  std::vector<double> sums(panel.categories.size(), 0);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    for (const Series* series : shown) {
      if (c < series->points.size() && std::isfinite(series->points[c].y))
        sums[c] += series->points[c].y;
    }
  }
  const double longest = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  TextTable table(columns);
  table.add_titles(titles);
  for (std::size_t c = 0; c < panel.categories.size(); ++c) {
    std::vector<std::string> cells{panel.categories[c]};
    for (const Series* series : shown)
      cells.push_back(c < series->points.size() ? text_of(series->points[c].y) : "");
    cells.push_back(bar(sums[c], longest));
    table.add(cells);
  }
  return encoded_format("{}\n", panel.x_label) + table.text(look);
}

Encoded matrix_text(const Panel& panel, const Look& look) {
  std::vector<std::string> titles{""};
  std::vector<Align> columns{Align::left};
  for (const std::string& category : panel.categories) {
    titles.push_back(category);
    columns.push_back(Align::right);
  }
  TextTable table(columns);
  table.add_titles(titles);
  for (std::size_t row = 0; row < panel.series.size(); ++row) {
    std::vector<std::string> cells{panel.categories[row]};
    for (const Point& point : panel.series[row].points)
      cells.push_back(std::isfinite(point.y) ? fmt::format("{:+.2f}", point.y) : "–");
    table.add(cells);
  }
  return table.text(look);
}

/// gnuplot starts a page, and fills each line with spaces.
std::string without_spaces(const std::string& page) {
  std::string text;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find_last_not_of(" \f\r");
    if (end != std::string::npos) text += line.substr(0, end + 1) + "\n";
  }
  return text;
}

}  // namespace

void draw(const Plot& plot, const std::filesystem::path& file) {
  record::AtomicFile picture(file);
  output_of_gnuplot(gnuplot_script(plot, picture_of(file), picture.temporary().string()));
  picture.commit();
}

Encoded plot_text(const Plot& plot, const Look& look) {
  Encoded text = encoded_format("{}\n{}\n", plot.title, plot.source);
  const std::size_t width = std::min(look.width, kMostColumns);
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    text += "\n";
    const Panel& panel = plot.panels[i];
    switch (panel.kind) {
      case Panel::Kind::lines:
        text += encoded_format("{}\n", panel.y_label);
        text +=
            terminal_lines(without_spaces(output_of_gnuplot(gnuplot_text_script(plot, i, width))));
        break;
      case Panel::Kind::bars:
      case Panel::Kind::stack:
        text += bars_text(panel, look);
        break;
      case Panel::Kind::matrix:
        text += matrix_text(panel, look);
        break;
    }
  }
  return text;
}

}  // namespace hpcboot::plots
