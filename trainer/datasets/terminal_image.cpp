#include "datasets/terminal_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hpcboot::data {
namespace {

constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};

/// From 0 to 1.
float pixel_at(const std::uint8_t* pixels, PixelType type, std::int64_t at) {
  if (type == PixelType::u8) return static_cast<float>(pixels[at]) / 255.0F;
  float value = 0;
  std::memcpy(&value, pixels + static_cast<std::size_t>(at) * sizeof value, sizeof value);
  return value >= 0 ? std::min(value, 1.0F) : 0.0F;  // NaN is 0, too
}

/// The start of part `number` when a length is divided into `parts`.
std::int64_t edge(std::int64_t number, std::int64_t parts, std::int64_t length) {
  return number * length / parts;
}

}  // namespace

std::vector<std::string> draw_image(const std::uint8_t* pixels, const ImageShape& shape,
                                    PixelType type, std::int64_t width) {
  const std::int64_t columns = std::min(shape.cols, width);
  const std::int64_t lines = std::max<std::int64_t>(1, (shape.rows * columns / shape.cols + 1) / 2);
  std::vector<std::string> drawn;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t top = edge(line, lines, shape.rows);
    const std::int64_t bottom = std::max(top + 1, edge(line + 1, lines, shape.rows));
    std::string text;
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t left = edge(column, columns, shape.cols);
      const std::int64_t right = edge(column + 1, columns, shape.cols);
      float sum = 0;
      for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
        for (std::int64_t y = top; y < bottom; ++y) {
          for (std::int64_t x = left; x < right; ++x) {
            sum += pixel_at(pixels, type, (channel * shape.rows + y) * shape.cols + x);
          }
        }
      }
      const float mean = sum / static_cast<float>(shape.channels * (bottom - top) * (right - left));
      const auto shade = static_cast<std::size_t>(mean * 4.99F);
      text += kShades[std::min(shade, kShades.size() - 1)];
    }
    drawn.push_back(text);
  }
  return drawn;
}

}  // namespace hpcboot::data
