#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::plots {

struct Point {
  double x = 0;
  double y = 0;
  std::optional<double> low{};  ///< smallest and largest of several measurements
  std::optional<double> high{};
};

struct Series {
  enum class Style {
    line,    ///< points joined by a line
    points,  ///< single measurements
    ideal,   ///< what would be best: a thin line
  };
  std::string name;
  Style style = Style::line;
  std::vector<Point> points{};
  /// Lines of the same number have the same colour and points; without, each line its own.
  std::optional<std::size_t> look{};
};

/// A diagram of a plot.
struct Panel {
  enum class Kind {
    lines,  ///< over a continuous x
    bars,   ///< point i of the only line series is the bar of category i; others are points
    stack,  ///< the series are the parts of each category's bar, from left to right
    matrix  ///< point j of series i is a number from -1 to 1, of categories i and j
  };
  Kind kind = Kind::lines;
  std::string x_label{};  ///< with its unit
  std::string y_label{};
  bool counts_x = false;  ///< x is a whole number, such as an epoch
  bool is_log_x = false;  ///< to base 2, as is y
  bool is_log_y = false;
  bool is_from_zero = false;  ///< y, so that small changes do not look large
  std::vector<std::string> categories{};
  std::vector<Series> series{};
};

/// So many lines of a diagram can be told apart.
constexpr std::size_t kMostLines = 8;

struct Plot {
  std::string title;
  std::string source{};  ///< where the numbers come from
  std::vector<Panel> panels{};
};

}  // namespace hpcboot::plots
