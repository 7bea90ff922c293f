#pragma once

#include "hpcboot/encode.hpp"

namespace hpcboot {

/// How a terminal shows a text.
enum class Style { plain, bold, red, green, yellow, blue };

/// Whether to use colours on this descriptor: it is a terminal that supports them, and NO_COLOR is
/// not set (https://no-color.org).
bool has_colour(int descriptor);

/// The text in this style; unchanged if `has_colour` is false.
Encoded styled(const Encoded& text, Style style, bool has_colour);

}  // namespace hpcboot
