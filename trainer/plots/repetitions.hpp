#pragma once

#include <vector>

#include "plots/plot.hpp"

namespace hpcboot::plots {

/// Measurements of the same thing need to be as many for a range. Fewer are shown each.
constexpr std::size_t kRepetitions = 3;

/// The median, of an even number the mean of the two in the middle, with the smallest and largest
/// value if there are kRepetitions.
/// @param values at least one
Point median_point(double x, const std::vector<double>& values);

/// The points of several lines in at most `bins` intervals of x: their median, with the smallest
/// and largest value if there are kRepetitions. Of as few points, they stay as they are.
std::vector<Point> binned(const std::vector<Point>& points, std::size_t bins);

}  // namespace hpcboot::plots
