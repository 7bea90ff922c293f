#include "datasets/dataset.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hpcboot::data {

std::string to_string(const ImageShape& shape) {
  return std::to_string(shape.channels) + "x" + std::to_string(shape.rows) + "x" +
         std::to_string(shape.cols);
}

std::size_t Dataset::image_bytes() const noexcept {
  return static_cast<std::size_t>(shape_.pixels()) * (type_ == PixelType::f32 ? sizeof(float) : 1);
}

void Dataset::read(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                   std::uint8_t* labels) const {
  const auto* const stray = std::find_if(
      indices, indices + number, [&](std::int64_t index) { return index < 0 || index >= count_; });
  if (stray != indices + number) {
    throw std::out_of_range("image " + std::to_string(*stray) + " of a set of " +
                            std::to_string(count_));
  }
  read_checked(indices, number, pixels, labels);
}

MemoryDataset::MemoryDataset(ImageSet set)
    : MemoryDataset({1, set.rows, set.cols}, kClasses, std::move(set.pixels),
                    std::move(set.labels)) {}

MemoryDataset::MemoryDataset(const ImageShape& shape, std::int64_t classes,
                             std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels)
    : Dataset(static_cast<std::int64_t>(labels.size()), shape, PixelType::u8, classes),
      pixels_(std::move(pixels)),
      labels_(std::move(labels)) {}

void MemoryDataset::read_checked(const std::int64_t* indices, std::int64_t number,
                                 std::uint8_t* pixels, std::uint8_t* labels) const {
  const std::size_t bytes = image_bytes();
  for (std::int64_t i = 0; i < number; ++i) {
    const auto index = static_cast<std::size_t>(indices[i]);
    std::copy_n(pixels_.data() + index * bytes, bytes,
                pixels + static_cast<std::size_t>(i) * bytes);
    labels[i] = labels_[index];
  }
}

}  // namespace hpcboot::data
