#include "datasets/image_batch.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace hpcboot::data {

ImageTransform::ImageTransform(std::int64_t rows, std::int64_t cols, std::int64_t size, float mean,
                               float std)
    : rows_(static_cast<std::size_t>(rows)),
      cols_(static_cast<std::size_t>(cols)),
      lines_(make_taps(rows, size)),
      columns_(make_taps(cols, size)),
      mean_(mean),
      std_(std) {
  for (int byte = 0; byte < 256; ++byte) {
    value_of_.push_back((static_cast<float>(byte) / 255.0F - mean) / std);
  }
}

std::vector<ImageTransform::Tap> ImageTransform::make_taps(std::int64_t in, std::int64_t out) {
  if (in <= 0 || out <= 0) {
    throw std::invalid_argument("ImageTransform: cannot resize " + std::to_string(in) + " to " +
                                std::to_string(out) + " pixels");
  }
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  std::vector<Tap> taps;
  taps.reserve(static_cast<std::size_t>(out));
  for (std::int64_t i = 0; i < out; ++i) {
    const float position = std::max(0.0F, scale * (static_cast<float>(i) + 0.5F) - 0.5F);
    const auto first = std::min(static_cast<std::int64_t>(position), in - 1);
    const auto second = std::min(first + 1, in - 1);
    taps.push_back({static_cast<std::size_t>(first), static_cast<std::size_t>(second),
                    position - static_cast<float>(first)});
  }
  return taps;
}

template <typename Pixel, typename ValueOf>
void ImageTransform::resize(const Pixel* channel, float* out, Scratch& scratch,
                            ValueOf value_of) const {
  const std::size_t size = columns_.size();
  scratch.lines.resize(rows_ * size);
  // First along the rows of the input, which are few; the long pass down the columns then blends
  // two whole lines, which the compiler vectorises.
  float* wide = scratch.lines.data();
  for (std::size_t row = 0; row < rows_; ++row) {
    const Pixel* line = channel + row * cols_;
    for (std::size_t x = 0; x < size; ++x) {
      const Tap& tap = columns_[x];
      const float first = value_of(line[tap.first]);
      const float second = value_of(line[tap.second]);
      wide[row * size + x] = first + (second - first) * tap.weight;
    }
  }
  for (std::size_t y = 0; y < lines_.size(); ++y) {
    const float* first = wide + lines_[y].first * size;
    const float* second = wide + lines_[y].second * size;
    const float weight = lines_[y].weight;
    float* line = out + y * size;
    for (std::size_t x = 0; x < size; ++x) {
      line[x] = first[x] + (second[x] - first[x]) * weight;
    }
  }
}

void ImageTransform::convert(const std::uint8_t* channel, float* out, Scratch& scratch) const {
  resize(channel, out, scratch, [this](std::uint8_t pixel) { return value_of_[pixel]; });
}

void ImageTransform::convert(const float* channel, float* out, Scratch& scratch) const {
  resize(channel, out, scratch, [this](float pixel) { return (pixel - mean_) / std_; });
}

void fill_batch(const Dataset& set, const std::int64_t* indices, std::int64_t count,
                const ImageTransform& transform, ImageTransform::Scratch& scratch, Batch& batch) {
  const auto images = static_cast<std::size_t>(count);
  const auto channels = static_cast<std::size_t>(set.shape().channels);
  const auto in = static_cast<std::size_t>(set.shape().rows * set.shape().cols);
  const auto out = static_cast<std::size_t>(transform.size() * transform.size());
  scratch.pixels.resize(images * set.image_bytes());
  scratch.labels.resize(images);
  set.read(indices, count, scratch.pixels.data(), scratch.labels.data());
  batch.size = count;
  batch.channels = set.shape().channels;
  batch.images.resize(images * channels * out);
  batch.labels.assign(scratch.labels.begin(), scratch.labels.end());
  for (std::size_t i = 0; i < images * channels; ++i) {
    float* const target = batch.images.data() + i * out;
    if (set.pixel_type() == PixelType::u8) {
      transform.convert(scratch.pixels.data() + i * in, target, scratch);
    } else {
      const void* const source = scratch.pixels.data() + i * in * sizeof(float);
      transform.convert(static_cast<const float*>(source), target, scratch);
    }
  }
}

void fill_batch_with_pixels(const Dataset& set, const std::int64_t* indices, std::int64_t count,
                            ImageTransform::Scratch& scratch, Batch& batch) {
  const auto images = static_cast<std::size_t>(count);
  batch.pixels.resize(images * set.image_bytes());
  scratch.labels.resize(images);
  set.read(indices, count, batch.pixels.data(), scratch.labels.data());
  batch.size = count;
  batch.channels = set.shape().channels;
  batch.shape = set.shape();
  batch.pixel_type = set.pixel_type();
  batch.labels.assign(scratch.labels.begin(), scratch.labels.end());
}

}  // namespace hpcboot::data
