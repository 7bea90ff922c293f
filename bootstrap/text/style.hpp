#pragma once

#include "hpcboot/encode.hpp"

namespace hpcboot {

/// How a terminal shows a text.
enum class Style { plain, bold, red, green, yellow, blue };

/// Whether colours go to this descriptor: a terminal that has them, and NO_COLOR is not set
/// (https://no-color.org).
bool has_colour(int descriptor);

/// The text in that style; as it is if `has_colour` is false.
Encoded styled(const Encoded& text, Style style, bool has_colour);

}  // namespace hpcboot
