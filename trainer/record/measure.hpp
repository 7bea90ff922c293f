#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::record {

/// What a validation measures besides the loss. A higher value is better.
struct Measure {
  std::string name;       ///< of lower-case letters, digits and underscores: "accuracy"
  double value = 0;       ///< a share from 0 to 1 if is_share
  bool is_share = false;  ///< shown as a percentage; not recorded
};

/// Whether the name is one as described, and no validation of every run has a value of that name:
/// loss and seconds.
bool is_measure_name(std::string_view name);

}  // namespace hpcboot::record
