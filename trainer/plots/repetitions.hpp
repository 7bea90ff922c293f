#pragma once

#include <vector>

#include "plots/plot.hpp"

namespace hpcboot::plots {

/// Measurements of the same thing need to be as many for a median.
constexpr std::size_t kRepetitions = 3;

/// The median, with the smallest and largest one if there are kRepetitions. Of fewer, the mean
/// would hide how much they differ: the median of two is the lower one, and both should be shown.
/// @param values at least one
Point median_point(double x, std::vector<double> values);

}  // namespace hpcboot::plots
