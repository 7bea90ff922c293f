#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// An image as lines of block characters, from blank to full, at most `width` per line; a character
/// covers about twice as many rows as columns, in the proportions of a terminal. Channels are
/// averaged. @param pixels image_bytes() of a set of this shape and type
std::vector<std::string> draw_image(const std::uint8_t* pixels, const ImageShape& shape,
                                    PixelType type, std::int64_t width);

}  // namespace hpcboot::data
