#include "datasets/image_samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace hpcboot::data {

using record::DType;

ImageSamples::ImageSamples(std::shared_ptr<const Dataset> set, ImageOptions options)
    : Samples(set->count()),
      set_(std::move(set)),
      options_(std::move(options)),
      transform_(set_->shape().rows, set_->shape().cols, options_.size, options_.normalization) {}

void ImageSamples::fill(const BatchOrder& order, Batch& batch) const {
  const ImageShape& shape = set_->shape();
  const auto images = static_cast<std::size_t>(order.size);
  // Of the loader's threads, each of which lives as long as an epoch.
  thread_local std::vector<std::uint8_t> stored;
  thread_local std::vector<std::uint8_t> labels;
  thread_local std::vector<std::uint8_t> scratch;
  thread_local ImageTransform::Scratch lines;
  batch.size = order.size;
  batch.parts.resize(options_.augmentation.mixup > 0 ? 4 : 2);
  std::uint8_t* pixels = nullptr;
  if (options_.pixels) {
    pixels = batch.parts[0].resize<std::uint8_t>(
        set_->pixel_type() == PixelType::u8 ? DType::u8 : DType::f32,
        {order.size, shape.channels, shape.rows, shape.cols});
  } else {
    stored.resize(images * set_->image_bytes());
    pixels = stored.data();
  }
  labels.resize(images);
  set_->read(order.indices, order.size, pixels, labels.data());
  std::copy(labels.begin(), labels.end(),
            batch.parts[1].resize<std::int64_t>(DType::i64, {order.size}));
  if (options_.augmentation.changes_pixels()) {
    for (std::size_t i = 0; i < images; ++i) {
      augment(options_.augmentation, shape, set_->pixel_type(),
              random_of(options_.augmentation, order.epoch, order.indices[i]),
              pixels + i * set_->image_bytes(), scratch);
    }
  }
  if (options_.augmentation.mixup > 0) fill_mixup(order, batch);
  if (options_.pixels) return;
  auto* out = batch.parts[0].resize<float>(
      DType::f32, {order.size, shape.channels, options_.size, options_.size});
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto plane = static_cast<std::size_t>(shape.rows * shape.cols);
  for (std::size_t i = 0; i < images * channels; ++i) {
    if (set_->pixel_type() == PixelType::u8) {
      transform_.convert(pixels + i * plane, i % channels, out, lines);
    } else {
      transform_.convert(reinterpret_cast<const float*>(pixels) + i * plane, i % channels, out,
                         lines);
    }
    out += options_.size * options_.size;
  }
}

/// Each image is mixed with the one before it, as torchvision's MixUp does, and all with one
/// weight.
void ImageSamples::fill_mixup(const BatchOrder& order, Batch& batch) const {
  auto* const others = batch.parts[2].resize<std::int64_t>(DType::i64, {order.size});
  auto* const weights = batch.parts[3].resize<float>(DType::f32, {order.size});
  // Not the numbers that crop its first image.
  Augmentation how = options_.augmentation;
  how.seed = ~how.seed;
  Random random = random_of(how, order.epoch, order.indices[0]);
  const float weight = draw_beta(how.mixup, random);
  for (std::int64_t i = 0; i < order.size; ++i) {
    others[i] = (i + order.size - 1) % order.size;
    weights[i] = weight;
  }
}

std::string ImageSamples::checksum() const {
  const std::vector<std::int64_t> indices = spread_indices(count());
  std::vector<std::uint8_t> pixels(indices.size() * set_->image_bytes());
  std::vector<std::uint8_t> labels(indices.size());
  set_->read(indices.data(), static_cast<std::int64_t>(indices.size()), pixels.data(),
             labels.data());
  return checksum_text(checksum_of(labels, checksum_of(pixels)));
}

std::string ImageSamples::checksum_of_labels() const {
  const std::vector<std::uint8_t>* labels = set_->labels();
  return labels == nullptr ? "" : checksum_text(checksum_of(*labels));
}

std::optional<PixelRange> unusual_pixels(const Dataset& set) {
  if (set.pixel_type() != PixelType::f32) return std::nullopt;
  const std::vector<std::int64_t> indices = spread_indices(set.count());
  std::vector<float> pixels(indices.size() * static_cast<std::size_t>(set.shape().pixels()));
  std::vector<std::uint8_t> labels(indices.size());
  set.read(indices.data(), static_cast<std::int64_t>(indices.size()),
           reinterpret_cast<std::uint8_t*>(pixels.data()), labels.data());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  PixelRange range{kInfinity, -kInfinity, false};
  for (const float pixel : pixels) {
    range.least = std::fmin(range.least, pixel);
    range.greatest = std::fmax(range.greatest, pixel);
    range.has_nan = range.has_nan || std::isnan(pixel);
  }
  if (range.least >= 0 && range.greatest <= 1 && !range.has_nan) return std::nullopt;
  return range;
}

}  // namespace hpcboot::data
