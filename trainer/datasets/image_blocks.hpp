#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// Neighbouring images of a set with their labels.
struct ImageBlock {
  std::int64_t first = 0;
  std::int64_t count = 0;
  const std::uint8_t* pixels = nullptr;
  const std::int64_t* labels = nullptr;
};

/// Reads a set from its first image to its last, some MiB at a time, and hands each block to
/// `action`. @param multiple each block but the last holds a multiple of this many images (0: any)
template <typename Action>
void for_each_block(const Dataset& set, std::int64_t multiple, Action action) {
  constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
  const std::int64_t unit = std::max<std::int64_t>(1, multiple);
  const std::int64_t fit = kBlockBytes / static_cast<std::int64_t>(set.image_bytes());
  const std::int64_t most = std::min(set.count(), std::max<std::int64_t>(1, fit / unit) * unit);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(most));
  std::vector<std::uint8_t> pixels(indices.size() * set.image_bytes());
  std::vector<std::uint8_t> bytes(indices.size());
  for (std::int64_t first = 0; first < set.count(); first += most) {
    const std::int64_t count = std::min(most, set.count() - first);
    std::iota(indices.begin(), indices.end(), first);
    set.read(indices.data(), count, pixels.data(), bytes.data());
    const std::vector<std::int64_t> labels(bytes.begin(), bytes.begin() + count);
    action(ImageBlock{first, count, pixels.data(), labels.data()});
  }
}

/// A set in memory, to be written as a whole.
struct WholeSet {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
};

/// @param progress called with the number of images read since the last call
template <typename Progress>
WholeSet read_whole(const Dataset& set, const Progress& progress) {
  WholeSet whole;
  whole.pixels.reserve(static_cast<std::size_t>(set.count()) * set.image_bytes());
  for_each_block(set, 0, [&](const ImageBlock& block) {
    const auto bytes = static_cast<std::size_t>(block.count) * set.image_bytes();
    whole.pixels.insert(whole.pixels.end(), block.pixels, block.pixels + bytes);
    whole.labels.insert(whole.labels.end(), block.labels, block.labels + block.count);
    progress(block.count);
  });
  return whole;
}

}  // namespace hpcboot::data
