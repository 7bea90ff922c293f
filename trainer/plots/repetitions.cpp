#include "plots/repetitions.hpp"

#include <algorithm>

namespace hpcboot::plots {

Point median_point(double x, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Point point{x, values[(values.size() - 1) / 2]};
  if (values.size() >= kRepetitions) {
    point.low = values.front();
    point.high = values.back();
  }
  return point;
}

}  // namespace hpcboot::plots
