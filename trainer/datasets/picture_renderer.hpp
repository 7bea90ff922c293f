#pragma once

#include <cstdint>
#include <string>

#include "datasets/random.hpp"

namespace hpcboot::data {

/// Draws a picture of a class into CIFAR's 3072 bytes: the planes red, green and blue, 32 x 32
/// pixels each. Of 10 classes, each is one of five shapes, plain or striped, in any colour. Of 100,
/// each is one of ten shapes in warm or cold colours (20 coarse classes) with one of five textures.
/// Position, size, rotation, colours, background and noise are drawn from `random`. It uses only
/// + - * / and square roots, which IEEE 754 rounds exactly, so that the bytes are the same on every
/// machine.
/// @param classes 10 or 100
void draw_picture(int label, int classes, Random& random, std::uint8_t* pixels);

/// "striped_disc"; "cold_dotted_star" of 100 classes.
std::string picture_name(int label, int classes);
/// Of the coarse classes that 100 classes belong to, five each: "cold_star".
std::string coarse_picture_name(int label);

}  // namespace hpcboot::data
