#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"

namespace hpcboot::test {

/// A set whose image i has the pixels i, i + 1, … (modulo 256; floats: the same / 255) and the
/// label i % classes.
class CountingSet : public data::Dataset {
 public:
  explicit CountingSet(std::int64_t count, data::ImageShape shape = {1, 3, 4},
                       data::PixelType type = data::PixelType::u8,
                       std::int64_t classes = data::kClasses)
      : Dataset(count, shape, type, classes) {}

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override {
    for (std::int64_t i = 0; i < number; ++i) {
      labels[i] = static_cast<std::uint8_t>(indices[i] % classes());
      for (std::int64_t at = 0; at < shape().pixels(); ++at) {
        const auto byte = static_cast<std::uint8_t>((indices[i] + at) % 256);
        if (pixel_type() == data::PixelType::u8) {
          *pixels++ = byte;
        } else {
          const float value = static_cast<float>(byte) / 255.0F;
          std::memcpy(pixels, &value, sizeof value);
          pixels += sizeof value;
        }
      }
    }
  }
};

struct Read {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  friend bool operator==(const Read& a, const Read& b) {
    return a.pixels == b.pixels && a.labels == b.labels;
  }
};

inline Read read(const data::Dataset& set, const std::vector<std::int64_t>& indices) {
  Read result;
  result.pixels.resize(indices.size() * set.image_bytes());
  result.labels.resize(indices.size());
  set.read(indices.data(), static_cast<std::int64_t>(indices.size()), result.pixels.data(),
           result.labels.data());
  return result;
}

inline Read read_all(const data::Dataset& set) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(set.count()));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return read(set, indices);
}

}  // namespace hpcboot::test
