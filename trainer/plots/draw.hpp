#pragma once

#include <filesystem>
#include <string>

#include "hpcboot/encode.hpp"
#include "plots/plot.hpp"
#include "text/table.hpp"

namespace hpcboot::plots {

/// Draws the plot into a file, with gnuplot. The file appears complete, or not at all.
/// @param file .svg or .png
/// @throws Error{backend_unavailable} without gnuplot, or if it fails; Error{unwritable_output}
void draw(const Plot& plot, const std::filesystem::path& file);

/// The plot as an SVG. @throws Error{backend_unavailable} as above
std::string drawn_svg(const Plot& plot);

/// The plot as text: lines by gnuplot, bars and numbers as tables.
/// @throws Error{backend_unavailable} as above
Encoded plot_text(const Plot& plot, const Look& look);

}  // namespace hpcboot::plots
