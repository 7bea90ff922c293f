#pragma once

#include <vector>

namespace hpcboot::data {

/// A point of a glyph: x to the right from 0 to about 0.7, y downwards from 0 to 1.
struct Point {
  float x;
  float y;
};

/// The points that the pen passes, in order: two make a straight line, more a smooth curve.
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

/// The ways in which `digit`, 0 to 9, is written.
const std::vector<Glyph>& glyphs_of(int digit);

}  // namespace hpcboot::data
