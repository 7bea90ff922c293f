#include "plots/repetitions.hpp"

#include <algorithm>
#include <map>

namespace hpcboot::plots {

Point median_point(double x, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  Point point{x, values.size() % 2 == 1 ? values[upper] : (values[upper - 1] + values[upper]) / 2};
  if (values.size() >= kRepetitions) {
    point.low = values.front();
    point.high = values.back();
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
