#pragma once

#include <cstddef>

#include "hpcboot/encode.hpp"

namespace hpcboot {

/// How a terminal shows a text.
enum class Style { plain, bold, red, green, yellow, blue };

/// Whether to use colours on this descriptor: it is a terminal that supports them, and NO_COLOR is
/// not set (https://no-color.org).
bool has_colour(int descriptor);

/// The text in this style; unchanged if `has_colour` is false.
Encoded styled(const Encoded& text, Style style, bool has_colour);

/// The first lines of a text, at most `rows`, each at most `columns` wide (both > 0), in their
/// styles; "…" marks the cuts.
Encoded cut_to_screen(const Encoded& text, std::size_t columns, std::size_t rows);

}  // namespace hpcboot
