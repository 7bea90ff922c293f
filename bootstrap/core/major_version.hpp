#pragma once

#include <optional>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot {

// The first number of a version string: 4 for "OpenPMIx 4.2.2rc2". nullopt if there is none.
inline std::optional<std::int64_t> major_version(std::string_view text) {
  const std::size_t number = text.find_first_of("0123456789");
  if (number == std::string_view::npos) return std::nullopt;
  text.remove_prefix(number);
  return parse_whole_number(text.substr(0, text.find_first_not_of("0123456789")));
}

}  // namespace hpcboot
