#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hpcboot {

/// The median; of an even number, the mean of the two in the middle. @param values at least one
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  return values.size() % 2 == 1 ? values[upper] : (values[upper - 1] + values[upper]) / 2;
}

}  // namespace hpcboot
