#pragma once

#include <string>

#include "hpcboot/encode.hpp"
#include "text/html_format.hpp"

namespace hpcboot::report {

/// A part that a narrow window scrolls sideways, also by the keyboard.
/// @param label what it is, for screen readers
inline Encoded wide(const std::string& label, const Encoded& part) {
  return html_format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n", label,
      part);
}

}  // namespace hpcboot::report
