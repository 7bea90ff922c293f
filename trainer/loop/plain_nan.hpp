#pragma once

#include <cmath>
#include <limits>

namespace hpcboot::train {

/// The number; NaN without its sign, which has no meaning and is printed: "-nan".
inline double plain_nan(double number) {
  return std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
}

}  // namespace hpcboot::train
