#pragma once

#include <cstdint>

#include "datasets/random.hpp"

namespace hpcboot::data {

constexpr int kDigitSide = 28;  ///< pixels, as in MNIST

/// Draws a handwritten-looking digit, white on black, into kDigitSide x kDigitSide bytes.
/// Style, shape, slant, size, position, pen and noise are drawn from `random`. It uses only + - * /
/// and square roots, which IEEE 754 rounds exactly, so that the bytes are the same on every
/// machine.
void draw_digit(int digit, Random& random, std::uint8_t* pixels);

}  // namespace hpcboot::data
