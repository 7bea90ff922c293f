#include "datasets/picture_shapes.hpp"

#include <algorithm>
#include <cmath>

namespace hpcboot::data {
namespace {

float length(float x, float y) {
  return std::sqrt(x * x + y * y);
}

/// Of a rectangle with these half sides.
float rectangle(float x, float y, float width, float height) {
  return std::max(std::fabs(x) - width, std::fabs(y) - height);
}

float triangle(float x, float y) {
  constexpr float kInner = 0.55F;      // radius of the inscribed circle
  constexpr float kSine = 0.8660254F;  // of 60 degrees
  return std::max(y, kSine * std::fabs(x) - 0.5F * y) - kInner;
}

/// With five points: the plane is folded along the axes of the star, until one edge is left.
float star(float x, float y) {
  constexpr float kOuter = 1.1F;
  constexpr float kInner = 0.45F;  // of kOuter
  constexpr float kCos36 = 0.80901699F;
  constexpr float kSin36 = 0.58778525F;
  x = std::fabs(x);
  for (const float axis : {kCos36, -kCos36}) {
    const float beyond = std::max(axis * x - kSin36 * y, 0.0F);
    x -= 2.0F * beyond * axis;
    y += 2.0F * beyond * kSin36;
  }
  x = std::fabs(x);
  y -= kOuter;
  const float edge_x = kInner * kSin36;
  const float edge_y = kInner * kCos36 - 1.0F;
  const float along =
      std::clamp((x * edge_x + y * edge_y) / (edge_x * edge_x + edge_y * edge_y), 0.0F, kOuter);
  const float distance = length(x - edge_x * along, y - edge_y * along);
  return y * edge_x - x * edge_y > 0 ? distance : -distance;
}

}  // namespace

float distance_to_shape(int shape, float x, float y) {
  switch (shape) {
    case 0:
      return length(x, y) - 0.9F;
    case 1:
      return rectangle(x, y, 0.78F, 0.78F);
    case 2:
      return triangle(x, y);
    case 3:
      return std::fabs(length(x, y) - 0.7F) - 0.22F;
    case 4:
      return star(x, y);
    case 5:
      return std::min(rectangle(x, y, 1.0F, 0.3F), rectangle(x, y, 0.3F, 1.0F));
    case 6:
      return std::max(length(x, y + 0.45F) - 1.05F, -0.45F - y);
    case 7:
      return std::max(length(x, y) - 1.0F, 0.8F - length(x - 0.5F, y));
    case 8:
      return rectangle(x, y, 1.1F, 0.33F);
    default:
      return std::fabs(rectangle(x, y, 0.62F, 0.62F)) - 0.2F;
  }
}

}  // namespace hpcboot::data
