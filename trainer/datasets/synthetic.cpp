#include "datasets/synthetic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "datasets/random.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

constexpr std::uint64_t kSeed = 1234;
// Image i of a split is drawn from stream base + i.
constexpr std::uint64_t kStreamsOfSplit = std::uint64_t{1} << 40;
constexpr std::int64_t kMaxImages = std::int64_t{1} << 40;
constexpr std::int64_t kTrainPerTest = 6;  // as in MNIST
constexpr std::uint8_t kBar = 224;
constexpr std::uint64_t kNoise = 0x7f7f7f7f7f7f7f7f;  // limits noise to half the brightness

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(std::int64_t count, const ImageShape& shape, Split split)
      : Dataset(count, shape, PixelType::u8),
        first_stream_(kStreamsOfSplit * (split == Split::train ? 1 : 2)) {}

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override {
    for (std::int64_t i = 0; i < number; ++i) {
      Random random(kSeed, first_stream_ + static_cast<std::uint64_t>(indices[i]));
      labels[i] = static_cast<std::uint8_t>(random.below(kClasses));
      draw(labels[i], random, pixels + static_cast<std::size_t>(i) * image_bytes());
    }
  }

  void draw(std::int64_t label, Random& random, std::uint8_t* image) const {
    const std::size_t bytes = image_bytes();
    for (std::size_t at = 0; at < bytes; at += 8) {
      const std::uint64_t bits = random.next() & kNoise;
      for (std::size_t i = 0; i < std::min<std::size_t>(8, bytes - at); ++i) {
        image[at + i] = static_cast<std::uint8_t>(bits >> 8 * i);
      }
    }
    // Band number `label` of the rows, over all channels.
    const std::int64_t rows = shape().rows;
    const std::int64_t first = label * rows / kClasses;
    const std::int64_t last = std::max(first + 1, (label + 1) * rows / kClasses);
    for (std::int64_t channel = 0; channel < shape().channels; ++channel) {
      std::uint8_t* const plane = image + channel * rows * shape().cols;
      std::fill(plane + first * shape().cols, plane + last * shape().cols, kBar);
    }
  }

  std::uint64_t first_stream_;
};

}  // namespace

std::array<std::int64_t, 4> parse_sizes(std::string_view text) {
  std::array<std::int64_t, 4> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sizes[i]);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool ends_well = i + 1 == sizes.size() ? text.empty() : text.substr(0, 1) == "x";
    if (error != std::errc{} || !ends_well) return {};
    if (!text.empty()) text.remove_prefix(1);
  }
  return sizes;
}

std::unique_ptr<Dataset> open_synthetic(const std::string& text, Split split, std::int64_t limit) {
  const auto [number, channels, rows, cols] =
      parse_sizes(std::string_view(text).substr(kSyntheticPrefix.size()));
  if (number < 1 || number > kMaxImages || channels < 1 || channels > kMaxChannels || rows < 1 ||
      rows > kMaxSide || cols < 1 || cols > kMaxSide) {
    throw Error(ErrorCode::missing_data, "the data set '" + text + "'",
                "synthetic:NxCxHxW: a number of images, 1 to " + std::to_string(kMaxChannels) +
                    " channels, 1 to " + std::to_string(kMaxSide) + " rows and columns",
                "use, for example, synthetic:60000x1x28x28");
  }
  std::int64_t count =
      split == Split::train ? number : std::max<std::int64_t>(1, number / kTrainPerTest);
  if (limit > 0) count = std::min(count, limit);
  return std::make_unique<SyntheticDataset>(count, ImageShape{channels, rows, cols}, split);
}

}  // namespace hpcboot::data
