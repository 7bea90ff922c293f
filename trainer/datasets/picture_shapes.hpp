#pragma once

#include <array>
#include <string_view>

namespace hpcboot::data {

/// The shapes of drawn pictures, which differ however they are rotated.
constexpr std::array<std::string_view, 10> kPictureShapes = {
    "disc", "square", "triangle", "ring", "star", "cross", "half_disc", "crescent", "bar", "frame"};

/// The distance of a point from the outline of shape number `shape`, negative inside it. The shapes
/// are about as large as the circle of radius 1 around (0, 0). Far from the outline the distance is
/// approximate.
float distance_to_shape(int shape, float x, float y);

}  // namespace hpcboot::data
