#include "plots/draw.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <functional>
#include <sstream>

#include "hpcboot/error.hpp"
#include "plots/gnuplot_script.hpp"
#include "process/command.hpp"
#include "record/atomic_file.hpp"
#include "record/output_error.hpp"
#include "text/format.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot::plots {
namespace {

constexpr std::size_t kFewestColumns = 40;
constexpr std::size_t kMostColumns = 80;

/// A file in memory, which gnuplot writes: its name has no special characters, for which gnuplot
/// runs commands or expands paths, and nothing is left if this process is killed.
class Canvas {
 public:
  Canvas() : descriptor_(::memfd_create("plot", 0)) {
    if (descriptor_ < 0) throw record::output_error("create", "a file in memory", errno);
  }
  ~Canvas() { ::close(descriptor_); }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// For gnuplot, which inherits the descriptor.
  std::string name() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

  std::string content() const {
    std::string text;
    std::array<char, 65536> buffer{};
    for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
      const ssize_t count = ::pread(descriptor_, buffer.data(), buffer.size(), at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
};

/// Runs gnuplot without the user's own settings. @return what it has drawn
std::string drawn_by_gnuplot(const std::function<std::string(const std::string& file)>& script) {
  const Canvas canvas;
  CommandOptions options;
  options.input = script(canvas.name());
  options.limit = std::chrono::minutes(5);
  const CommandResult result = run_command({"gnuplot", "-d"}, options);
  std::string drawn = canvas.content();
  if (result.is_ok() && !drawn.empty()) return drawn;
  if (!result.is_started) {
    throw Error(ErrorCode::backend_unavailable, "there is no gnuplot, which draws the plots",
                "gnuplot 5.0 or newer in PATH",
                "install gnuplot (Debian: apt-get install gnuplot-nox), or load its module; "
                "`runtable report --no-plots` works without it");
  }
  const std::string reason = result.is_ok() ? "it has drawn nothing" : failure_of(result);
  throw Error(ErrorCode::backend_unavailable, "gnuplot failed: " + reason,
              "gnuplot 5.0 or newer, with the terminals svg, pngcairo and dumb",
              "try another version of gnuplot, or fewer runs");
}

std::string drawn(const Plot& plot, Picture picture) {
  return drawn_by_gnuplot(
      [&](const std::string& canvas) { return gnuplot_script(plot, picture, canvas); });
}

std::string text_of(double value) {
  if (!std::isfinite(value)) return "–";
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
  return std::abs(value) >= 1 ? fmt::format("{:.4g}", value) : fmt::format("{:.3f}", value);
}

/// @param columns of the longest bar
std::string bar(double value, double longest, std::size_t columns) {
  if (!(value > 0) || !(longest > 0)) return "";
  std::string text;
  const auto length =
      static_cast<std::size_t>(std::lround(static_cast<double>(columns) * value / longest));
  for (std::size_t i = 0; i < length; ++i) text += "█";
  return text.empty() && columns > 0 ? "▏" : text;
}

/// The series of a panel that are bars, or parts of them.
std::vector<const Series*> bars_of(const Panel& panel) {
  std::vector<const Series*> bars;
  for (const Series& series : panel.series) {
    if (panel.kind == Panel::Kind::stack || series.style == Series::Style::line)
      bars.push_back(&series);
  }
  return bars;
}

std::vector<double> sums_of(const Panel& panel) {
  std::vector<double> sums(panel.categories.size(), 0);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    for (const Series* series : bars_of(panel)) {
      if (c < series->points.size() && std::isfinite(series->points[c].y))
        sums[c] += series->points[c].y;
    }
  }
  return sums;
}

/// A row for each category: its name and values, and a bar of their sum; without room for bars, its
/// values and name.
/// @param bar_columns of the longest bar; 0: no bars
TextTable bars_table(const Panel& panel, std::size_t bar_columns) {
  const std::vector<double> sums = sums_of(panel);
  const double longest = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  const std::vector<const Series*> bars = bars_of(panel);
  std::vector<Align> columns(bars.size(), Align::right);
  columns.push_back(Align::left);
  if (bar_columns > 0) columns.insert(columns.begin(), Align::left);
  const auto row_of = [&](std::vector<std::string> values, const std::string& name,
                          const std::string& bar) {
    values.insert(bar_columns > 0 ? values.begin() : values.end(), name);
    if (bar_columns > 0) values.push_back(bar);
    return values;
  };
  TextTable table(columns);
  std::vector<std::string> titles;
  for (const Series* series : bars) titles.push_back(series->name);
  table.add_titles(row_of(titles, "", ""));
  for (std::size_t c = 0; c < panel.categories.size(); ++c) {
    std::vector<std::string> values;
    for (const Series* series : bars)
      values.push_back(c < series->points.size() ? text_of(series->points[c].y) : "");
    table.add(row_of(values, panel.categories[c], bar(sums[c], longest, bar_columns)));
  }
  return table;
}

Encoded bars_text(const Panel& panel, const Look& look) {
  constexpr std::size_t kShortest = 8;
  constexpr std::size_t kLongest = 30;
  const std::size_t others = bars_table(panel, 1).width() - 1;
  const std::size_t room = others + kShortest > look.width ? 0 : look.width - others;
  return encoded_format("{}\n", panel.x_label) +
         bars_table(panel, std::min(room, kLongest)).text(look);
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
  const Picture picture = file.extension() == ".png" ? Picture::png : Picture::svg;
  record::write_named_file(file, drawn(plot, picture));
}

std::string drawn_svg(const Plot& plot) {
  return drawn(plot, Picture::svg);
}

Encoded plot_text(const Plot& plot, const Look& given) {
  const Look look{std::clamp(given.width, kFewestColumns, kMostColumns), given.has_colour};
  Encoded text;
  for (const std::string& part : {plot.title, plot.source}) {
    for (const std::string& line : wrapped(part, look.width)) text += encoded_format("{}\n", line);
  }
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    text += "\n";
    const Panel& panel = plot.panels[i];
    switch (panel.kind) {
      case Panel::Kind::lines:
        text += encoded_format("{}\n", panel.y_label);
        text += terminal_lines(without_spaces(drawn_by_gnuplot([&](const std::string& canvas) {
          return gnuplot_text_script(plot, i, look.width, canvas);
        })));
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
