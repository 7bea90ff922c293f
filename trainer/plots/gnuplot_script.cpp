#include "plots/gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "text/display_width.hpp"
#include "text/wrap.hpp"

namespace hpcboot::plots {
namespace {

// Without the yellow one, which is hard to see on white.
constexpr std::array<const char*, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                              "#E69F00", "#56B4E9", "#000000"};
constexpr std::array<int, 8> kPoints{7, 5, 9, 11, 13, 4, 6, 8};
// Solid, crossed and hatched areas.
constexpr std::array<int, 6> kPatterns{3, 1, 4, 2, 5, 6};

constexpr std::size_t kMostMarkedPoints = 100;
constexpr std::size_t kLongestName = 60;  // columns
constexpr std::size_t kCharacters = 105;  // of a line of the title

constexpr int kWidth = 900;  // pixels
constexpr int kHeightOfPanel = 420;
constexpr int kHeightOfLine = 20;
constexpr int kHeightOfBar = 46;        // of horizontal ones
constexpr std::size_t kMostBars = 400;  // of that height; more are drawn closer together
constexpr int kHighestPng = 32767;      // pixels; cairo draws no more

template <typename Array>
auto nth(const Array& values, std::size_t index) {
  return values[index % values.size()];
}

/// gnuplot reads NaN as a gap.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "NaN";
}

std::string shortened(const std::string& name) {
  return cut_in_the_middle(name, kLongestName);
}

/// `$name << EOD … EOD`: x, y, low, high of each point.
std::string data_block(const std::string& name, const Series& series) {
  std::string text = "$" + name + " << EOD\n";
  for (const Point& point : series.points) {
    text += fmt::format("{} {} {} {}\n", number(point.x), number(point.y),
                        number(point.low.value_or(point.y)), number(point.high.value_or(point.y)));
  }
  return text + "EOD\n";
}

bool has_range(const Series& series) {
  return std::any_of(series.points.begin(), series.points.end(),
                     [](const Point& point) { return point.low || point.high; });
}

std::string block_of(std::size_t panel, std::size_t series) {
  return fmt::format("panel{}series{}", panel, series);
}

void add(std::string& list, const std::string& more) {
  list += (list.empty() ? "" : ", \\\n     ") + more;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range range_of_x(const Panel& panel) {
  Range range;
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) range.include(point.x);
  }
  return range;
}

Range range_of_y(const Panel& panel) {
  Range range;
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) {
      for (const double value :
           {point.y, point.low.value_or(point.y), point.high.value_or(point.y)})
        range.include(value);
    }
  }
  return range;
}

/// A little more than the range, on a logarithmic axis.
std::string log_range(const char* axis, const Range& range) {
  constexpr double kMargin = 1.15;
  if (!(range.low > 0 && range.high >= range.low)) return "";
  return fmt::format("set logscale {0} 2\nset {0}range [{1}:{2}]\n", axis,
                     number(range.low / kMargin), number(range.high * kMargin));
}

std::string scales_of(const Panel& panel) {
  constexpr double kMostTics = 20;
  const Range x = range_of_x(panel);
  std::string text =
      "unset logscale\nset format '%g'\nset autoscale\nset xtics autofreq\nset ytics autofreq\n";
  // Points on the border would be cut, and a single one has no range.
  const double margin = x.high > x.low ? 0.02 * (x.high - x.low) : 1;
  if (panel.kind == Panel::Kind::lines && std::isfinite(x.low))
    text += fmt::format("set xrange [{}:{}]\n", number(x.low - margin), number(x.high + margin));
  if (panel.is_log_x) text += log_range("x", x);
  if (panel.is_log_y) text += log_range("y", range_of_y(panel));
  if (panel.counts_x && x.high - x.low <= kMostTics) text += "set xtics 1\n";
  if (panel.is_from_zero) text += "set yrange [0:*]\n";
  return text;
}

std::string lines_of(const Panel& panel, std::size_t number_of_panel, bool has_colours) {
  std::string script;
  std::string list;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const std::string block = block_of(number_of_panel, i);
    script += data_block(block, series);
    const std::string title = " title " + gnuplot_string(shortened(series.name));
    if (series.style == Series::Style::ideal) {
      add(list, fmt::format("${} using 1:2 with lines linewidth 1 dashtype 3{}{}", block,
                            has_colours ? " linecolor rgb '#808080'" : "", title));
      continue;
    }
    if (series.style == Series::Style::points) {
      add(list, fmt::format("${} using 1:2 with points pointtype 6 pointsize 1.2{}{}", block,
                            has_colours ? " linecolor rgb '#000000'" : "", title));
      continue;
    }
    const std::size_t look = series.look.value_or(i);
    const std::string colour =
        has_colours ? fmt::format(" linecolor rgb '{}'", nth(kColours, look)) : std::string();
    const std::string points = fmt::format(" pointtype {} pointsize 1", nth(kPoints, look));
    if (has_range(series)) {
      add(list,
          fmt::format("${} using 1:2:3:4 with yerrorbars pointtype 0 linewidth 1 dashtype 1{} "
                      "notitle",
                      block, colour));
    }
    // Hundreds of points would hide the line.
    const bool has_points = series.points.size() <= kMostMarkedPoints;
    add(list, fmt::format("${} using 1:2 with {} linewidth 2 dashtype {}{}{}{}", block,
                          has_points ? "linespoints" : "lines", i % 5 + 1, has_points ? points : "",
                          colour, title));
    // The points once more: their outlines follow the line's dashes.
    if (has_points) {
      add(list,
          fmt::format("${} using 1:2 with points dashtype 1{}{} notitle", block, points, colour));
    }
  }
  return script + scales_of(panel) + "plot " + list + "\n";
}

/// Places for the names of categories, one below the other.
std::string category_tics(const Panel& panel, const char* axis) {
  std::string text = fmt::format("set {}tics (", axis);
  for (std::size_t i = 0; i < panel.categories.size(); ++i)
    text += (i == 0 ? "" : ", ") + gnuplot_string(shortened(panel.categories[i])) +
            fmt::format(" {}", i);
  return text + ")\n";
}

/// Horizontal bars, so that long names of categories can be read.
std::string bars_of(const Panel& panel, std::size_t number_of_panel) {
  const std::size_t categories = panel.categories.size();
  std::string script;
  std::string list;
  std::vector<double> ends(categories, 0);
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const std::string block = block_of(number_of_panel, i);
    if (panel.kind == Panel::Kind::bars && series.style != Series::Style::line) {
      script += data_block(block, series);
      add(list, fmt::format("${} using 2:1 with points pointtype 6 pointsize 1.2 linecolor rgb "
                            "'#000000' title {}",
                            block, gnuplot_string(series.name)));
      continue;
    }
    // Left, right, and the category.
    script += "$" + block + " << EOD\n";
    for (std::size_t c = 0; c < std::min(categories, series.points.size()); ++c) {
      const double begin = panel.kind == Panel::Kind::stack ? ends[c] : 0;
      const double value = std::isfinite(series.points[c].y) ? series.points[c].y : 0;
      ends[c] = begin + value;
      script += fmt::format("{} {} {} {} {}\n", c, number(begin), number(begin + value),
                            number(series.points[c].low.value_or(NAN)),
                            number(series.points[c].high.value_or(NAN)));
    }
    script += "EOD\n";
    add(list, fmt::format("${} using 3:1:2:3:($1-0.35):($1+0.35) with boxxyerror fillstyle pattern "
                          "{} border linecolor rgb '#000000' linecolor rgb '{}' title {}",
                          block, nth(kPatterns, i), nth(kColours, i), gnuplot_string(series.name)));
    if (has_range(series))
      add(list, fmt::format("${} using 3:1:4:5 with xerrorbars pointtype 0 linewidth 2 linecolor "
                            "rgb '#000000' notitle",
                            block));
  }
  return script + scales_of(panel) + category_tics(panel, "y") +
         fmt::format("set yrange [{}:-0.7]\nset xrange [0:*]\nplot {}\n",
                     static_cast<double>(categories) - 0.3, list);
}

std::string matrix_of(const Panel& panel, std::size_t number_of_panel) {
  const std::string block = block_of(number_of_panel, 0);
  std::string script = "$" + block + " << EOD\n";
  for (std::size_t row = 0; row < panel.series.size(); ++row) {
    for (std::size_t column = 0; column < panel.series[row].points.size(); ++column)
      script += fmt::format("{} {} {}\n", column, row, number(panel.series[row].points[column].y));
    script += "\n";
  }
  const double last = static_cast<double>(panel.categories.size()) - 0.5;
  return script + "EOD\n" + scales_of(panel) + category_tics(panel, "x") +
         category_tics(panel, "y") +
         fmt::format(
             "set xtics rotate by -30\nset xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\n"
             "set cbrange [-1:1]\n"
             "set palette defined (-1 '#E69F00', 0 '#FFFFFF', 1 '#56B4E9')\n"
             "plot ${1} using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror "
             "fillstyle solid 1 noborder linecolor palette notitle, \\\n"
             "     ${1} using 1:2:(sprintf('%+.2f', $3)) with labels notitle\n"
             "set xtics norotate\n",
             last, block);
}

/// How many characters fit below a diagram, as gnuplot's terminal svg estimates them: if it finds
/// fewer columns than its margin has room for, the key covers the diagram. Beside the names of
/// bars, there is half of the width.
std::size_t room_for_key(const Panel& panel) {
  return panel.kind == Panel::Kind::lines ? 88 : 44;
}

/// @param characters that fit in a line
std::size_t columns_of_key(const Panel& panel, std::size_t characters) {
  constexpr std::size_t kSample = 9;  // of the line or the area beside a name
  std::size_t longest = 1;
  for (const Series& series : panel.series)
    longest = std::max(longest, display_width(shortened(series.name)));
  return std::clamp<std::size_t>(characters / (longest + kSample), 1, 4);
}

std::size_t rows_of_key(const Panel& panel, std::size_t characters) {
  const std::size_t columns = columns_of_key(panel, characters);
  return (panel.series.size() + columns - 1) / columns;
}

std::string panel_script(const Panel& panel, std::size_t number, bool has_colours,
                         std::size_t characters) {
  // gnuplot leaves out what does not fit below the diagram.
  const std::string key =
      panel.kind == Panel::Kind::matrix
          ? "set bmargin\nunset colorbox\n"
          : fmt::format("set key outside below horizontal maxcols {}\nset bmargin {}\n",
                        columns_of_key(panel, characters), 4 + rows_of_key(panel, characters));
  const std::string labels = key + "set xlabel " + gnuplot_string(panel.x_label) + "\nset ylabel " +
                             gnuplot_string(panel.y_label) + "\n";
  switch (panel.kind) {
    case Panel::Kind::lines:
      return labels + lines_of(panel, number, has_colours);
    case Panel::Kind::bars:
    case Panel::Kind::stack:
      return labels + bars_of(panel, number);
    case Panel::Kind::matrix:
      return labels + matrix_of(panel, number);
  }
  return "";
}

int height_of(const Panel& panel) {
  constexpr int kRowOfKey = 21;
  const bool has_bars = panel.kind == Panel::Kind::bars || panel.kind == Panel::Kind::stack;
  const int bars = has_bars ? static_cast<int>(std::min(kMostBars, panel.categories.size())) : 0;
  const int keys = kRowOfKey * static_cast<int>(rows_of_key(panel, room_for_key(panel)) - 1);
  return std::max(kHeightOfPanel, 130 + bars * kHeightOfBar) + keys;
}

/// Where a panel stands, in shares of the picture's height, from below.
/// @param top, own, height in pixels: above the panel, of the panel, of the picture
std::string place(int top, int own, int height) {
  const auto share = [height](int pixels) { return number(static_cast<double>(pixels) / height); };
  return fmt::format("set origin 0,{}\nset size 1,{}\n", share(height - top - own), share(own));
}

constexpr const char* kStart =
    "set encoding utf8\nset termoption noenhanced\nset datafile missing 'NaN'\n"
    "set grid linetype 1 linewidth 0.5 linecolor rgb '#D8D8D8'\nset tics nomirror\nset border 3\n";

}  // namespace

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (const char one : terminal_text(text).str()) {
    if (one == '\'') quoted += '\'';
    quoted += one;
  }
  return quoted + "'";
}

std::string gnuplot_script(const Plot& plot, Picture picture, const std::string& file) {
  std::vector<std::string> title = wrapped(plot.title, kCharacters);
  for (std::string& line : wrapped(plot.source, kCharacters)) title.push_back(std::move(line));
  const int height_of_title = kHeightOfLine * static_cast<int>(title.size() + 1);
  int height = height_of_title;
  for (const Panel& panel : plot.panels) height += height_of(panel);
  if (picture == Picture::png && height > kHighestPng) {
    throw Error(
        ErrorCode::unwritable_output,
        fmt::format("a .png of {} diagrams would be {} pixels high", plot.panels.size(), height),
        fmt::format("at most {} pixels", kHighestPng), "draw an .svg, which may be higher");
  }
  std::string words;
  for (const std::string& line : title)
    words += (words.empty() ? "" : ".\"\\n\".") + gnuplot_string(line);
  std::string script =
      fmt::format("set terminal {} size {},{} {}\nset output {}\n",
                  picture == Picture::svg ? "svg" : "pngcairo", kWidth, height,
                  picture == Picture::svg ? "dynamic font 'sans-serif,14' background '#ffffff'"
                                          : "font 'Sans,11' background '#ffffff'",
                  gnuplot_string(file));
  script += kStart;
  script += "set style fill pattern\n";
  script += fmt::format("set multiplot title {}\n", words);
  int top = height_of_title;
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const int own = height_of(plot.panels[i]);
    script += place(top, own, height);
    script += panel_script(plot.panels[i], i, true, room_for_key(plot.panels[i]));
    top += own;
  }
  return script + "unset multiplot\nset output\n";
}

std::string gnuplot_text_script(const Plot& plot, std::size_t number, std::size_t columns,
                                const std::string& file) {
  constexpr std::size_t kRows = 18;  // without the key
  Panel panel = plot.panels[number];
  panel.y_label.clear();  // it would take the columns of a third of the diagram
  return fmt::format("set terminal dumb noenhanced size {},{}\nset output {}\n", columns,
                     kRows + rows_of_key(panel, columns), gnuplot_string(file)) +
         kStart + "unset grid\n" + panel_script(panel, number, false, columns) + "set output\n";
}

}  // namespace hpcboot::plots
