#include "plots/repetitions.hpp"

#include <algorithm>
#include <map>

#include "core/median.hpp"

namespace hpcboot::plots {

Point median_point(double x, const std::vector<double>& values) {
  Point point{x, median(values)};
  if (values.size() >= kRepetitions) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    point.low = *low;
    point.high = *high;
  }
  return point;
}

std::vector<Point> binned(const std::vector<Point>& points, std::size_t bins) {
  if (points.size() <= bins) return points;
  const auto [first, last] = std::minmax_element(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  const double low = first->x;
  const double width = (last->x - low) / static_cast<double>(bins);
  if (!(width > 0)) return points;
  std::map<std::size_t, std::vector<double>> values;
  for (const Point& point : points) {
    const auto bin = static_cast<std::size_t>((point.x - low) / width);
    values[std::min(bin, bins - 1)].push_back(point.y);
  }
  std::vector<Point> result;
  for (const auto& [bin, of_bin] : values)
    result.push_back(median_point(low + (static_cast<double>(bin) + 0.5) * width, of_bin));
  return result;
}

}  // namespace hpcboot::plots
