#include "datasets/image_transform.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace hpcboot::data {

ImageTransform::ImageTransform(std::int64_t rows, std::int64_t cols, std::int64_t size,
                               const Normalization& normalization)
    : rows_(static_cast<std::size_t>(rows)),
      cols_(static_cast<std::size_t>(cols)),
      lines_(make_taps(rows, size)),
      columns_(make_taps(cols, size)),
      normalization_(normalization) {
  for (std::size_t channel = 0; channel < normalization.mean.size(); ++channel) {
    std::vector<float> values;
    for (int byte = 0; byte < 256; ++byte) {
      values.push_back((static_cast<float>(byte) / 255.0F - normalization.mean_of(channel)) /
                       normalization.std_of(channel));
    }
    values_.push_back(std::move(values));
  }
}

LineTaps ImageTransform::make_taps(std::int64_t in, std::int64_t out) {
  // An index of LineTaps has 32 bits.
  if (in <= 0 || out <= 0 || in > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("ImageTransform: cannot resize " + std::to_string(in) + " to " +
                                std::to_string(out) + " pixels");
  }
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  LineTaps taps;
  for (std::int64_t i = 0; i < out; ++i) {
    const float position = std::max(0.0F, scale * (static_cast<float>(i) + 0.5F) - 0.5F);
    const auto first = std::min(static_cast<std::int64_t>(position), in - 1);
    taps.first.push_back(static_cast<std::int32_t>(first));
    taps.second.push_back(static_cast<std::int32_t>(std::min(first + 1, in - 1)));
    taps.weight.push_back(position - static_cast<float>(first));
  }
  return taps;
}

template <typename Pixel, typename ValueOf>
void ImageTransform::resize(const Pixel* pixels, float* out, Scratch& scratch,
                            ValueOf value_of) const {
  const std::size_t size = columns_.size();
  scratch.resize(cols_ + rows_ * size);
  // First along the rows of the input, which are few; the long pass down the columns then blends
  // two whole lines.
  float* const values = scratch.data();
  float* const wide = values + cols_;
  for (std::size_t row = 0; row < rows_; ++row) {
    const Pixel* line = pixels + row * cols_;
    for (std::size_t x = 0; x < cols_; ++x) values[x] = value_of(line[x]);
    kernels_.stretch(values, columns_, wide + row * size);
  }
  for (std::size_t y = 0; y < lines_.size(); ++y) {
    kernels_.blend(wide + static_cast<std::size_t>(lines_.first[y]) * size,
                   wide + static_cast<std::size_t>(lines_.second[y]) * size, lines_.weight[y], size,
                   out + y * size);
  }
}

void ImageTransform::convert(const std::uint8_t* pixels, std::size_t channel, float* out,
                             Scratch& scratch) const {
  const std::vector<float>& values = values_[values_.size() == 1 ? 0 : channel];
  resize(pixels, out, scratch, [&values](std::uint8_t pixel) { return values[pixel]; });
}

void ImageTransform::convert(const float* pixels, std::size_t channel, float* out,
                             Scratch& scratch) const {
  const float mean = normalization_.mean_of(channel);
  const float std = normalization_.std_of(channel);
  resize(pixels, out, scratch, [mean, std](float pixel) { return (pixel - mean) / std; });
}

}  // namespace hpcboot::data
