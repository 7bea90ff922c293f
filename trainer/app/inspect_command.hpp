#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/verbs.hpp"

namespace hpcboot::app {

struct InspectRequest {
  std::string place;
  std::int64_t images = 3;  ///< of each split, to draw
  bool json = false;
};

options::Command inspect_command();

/// @return nothing if the arguments ask for help, which is printed. @throws UsageError
std::optional<InspectRequest> parse_inspect(const Arguments& arguments);

}  // namespace hpcboot::app
