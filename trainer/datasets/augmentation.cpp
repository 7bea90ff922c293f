#include "datasets/augmentation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace hpcboot::data {
namespace {

// More than a data set has samples.
constexpr std::uint64_t kStreamsOfEpoch = std::uint64_t{1} << 40;

template <typename Pixel>
void move_window(const ImageShape& shape, std::int64_t down, std::int64_t right, bool mirror,
                 const Pixel* from, Pixel* to) {
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    for (std::int64_t row = 0; row < shape.rows; ++row, to += shape.cols) {
      const std::int64_t source = row + down;
      const bool is_inside = source >= 0 && source < shape.rows;
      const Pixel* line = from + (channel * shape.rows + (is_inside ? source : 0)) * shape.cols;
      const std::int64_t first = std::max<std::int64_t>(0, -right);
      const std::int64_t last = std::min(shape.cols, shape.cols - right);
      std::fill(to, to + shape.cols, Pixel{});
      if (is_inside && first < last)
        std::copy(line + first + right, line + last + right, to + first);
      if (mirror) std::reverse(to, to + shape.cols);
    }
  }
}

}  // namespace

Random random_of(const Augmentation& how, int epoch, std::int64_t index) {
  return {how.seed,
          static_cast<std::uint64_t>(epoch) * kStreamsOfEpoch + static_cast<std::uint64_t>(index)};
}

void augment(const Augmentation& how, const ImageShape& shape, PixelType type, Random random,
             std::uint8_t* image, std::vector<std::uint8_t>& scratch) {
  const auto offset = [&] {
    return static_cast<std::int64_t>(
               random.below(2 * static_cast<std::uint64_t>(how.padding) + 1)) -
           how.padding;
  };
  const std::int64_t down = offset();
  const std::int64_t right = offset();
  const bool mirror = how.flip && random.below(2) == 1;
  if (down == 0 && right == 0 && !mirror) return;
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  const std::size_t bytes = pixels * (type == PixelType::f32 ? sizeof(float) : 1);
  scratch.assign(image, image + bytes);
  if (type == PixelType::u8) {
    move_window(shape, down, right, mirror, scratch.data(), image);
  } else {
    move_window(shape, down, right, mirror, reinterpret_cast<const float*>(scratch.data()),
                reinterpret_cast<float*>(image));
  }
}

float draw_beta(double alpha, Random& random) {
  if (!(alpha >= kLeastMixup && alpha <= 1)) throw std::invalid_argument("draw_beta: alpha");
  while (true) {
    const double x = std::pow(random.uniform(0, 1), 1 / alpha);
    const double y = std::pow(random.uniform(0, 1), 1 / alpha);
    if (x + y > 0 && x + y <= 1) return static_cast<float>(x / (x + y));
  }
}

}  // namespace hpcboot::data
