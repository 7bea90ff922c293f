#pragma once

#include <cmath>
#include <optional>

#include "json/bounded_json.hpp"

namespace hpcboot::record {

/// JSON has neither NaN nor infinity.
inline Json json_of(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace hpcboot::record
