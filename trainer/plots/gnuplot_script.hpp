#pragma once

#include <string>
#include <string_view>

#include "plots/plot.hpp"

namespace hpcboot::plots {

enum class Picture { svg, png };

/// The program for gnuplot (http://gnuplot.info, 5.0 or newer) that draws the plot. Lines differ in
/// dashes and points, and bars in patterns, so that the plot is legible in black and white; the
/// colours are those that colour-blind readers tell apart (M. Okabe, K. Ito,
/// https://jfly.uni-koeln.de/color/).
/// @param file to write: the program's own name, without special characters
/// @throws Error{unwritable_output} if a PNG would be too high
std::string gnuplot_script(const Plot& plot, Picture picture, const std::string& file);

/// The program that draws panel `number` of kind lines as text, without the label of y.
std::string gnuplot_text_script(const Plot& plot, std::size_t number, std::size_t columns,
                                const std::string& file);

/// External text as a string of gnuplot's language. In single quotes, gnuplot runs no commands.
std::string gnuplot_string(std::string_view text);

}  // namespace hpcboot::plots
