#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// Mean and standard deviation of MNIST's training pixels after scaling to [0, 1].
constexpr float kMnistMean = 0.1307F;
constexpr float kMnistStd = 0.3081F;

/// Turns a channel of rows x cols pixels into a normalised one of size x size floats.
///
/// A byte becomes (byte / 255 - mean) / std, a float (pixel - mean) / std. The resize is bilinear
/// with pixel centres at half coordinates, edges repeated, and no antialiasing when it shrinks:
/// what PyTorch's torch.nn.functional.interpolate(mode="bilinear", align_corners=False) computes.
/// The weights are computed once; convert() may be called from several threads at once.
class ImageTransform {
 public:
  /// Throws std::invalid_argument if a size is not positive.
  ImageTransform(std::int64_t rows, std::int64_t cols, std::int64_t size, float mean = kMnistMean,
                 float std = kMnistStd);

  /// Working memory of one thread; empty at first.
  struct Scratch {
    std::vector<float> lines;
    std::vector<std::uint8_t> pixels;  ///< of a batch, as they are stored
    std::vector<std::uint8_t> labels;
  };

  /// Reads rows x cols pixels and writes size x size floats.
  void convert(const std::uint8_t* channel, float* out, Scratch& scratch) const;
  void convert(const float* channel, float* out, Scratch& scratch) const;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(columns_.size()); }

 private:
  /// An output coordinate is first * (1 - weight) + second * weight of two input coordinates.
  struct Tap {
    std::size_t first;
    std::size_t second;
    float weight;
  };
  static std::vector<Tap> make_taps(std::int64_t in, std::int64_t out);
  template <typename Pixel, typename ValueOf>
  void resize(const Pixel* channel, float* out, Scratch& scratch, ValueOf value_of) const;

  std::size_t rows_;
  std::size_t cols_;
  std::vector<Tap> lines_;
  std::vector<Tap> columns_;
  float mean_;
  float std_;
  std::vector<float> value_of_;  ///< the normalised value of each of the 256 bytes
};

/// Images and labels for one training step: either `images`, or `pixels` from which a GPU computes
/// them.
struct Batch {
  std::vector<float> images;         ///< size x channels x H x W, contiguous (NCHW)
  std::vector<std::uint8_t> pixels;  ///< of size images, as they are stored
  PixelType pixel_type = PixelType::u8;
  ImageShape shape;                  ///< of an image in `pixels`
  std::vector<std::int64_t> labels;  ///< size values
  std::int64_t size = 0;             ///< number of images
  std::int64_t channels = 1;
};

/// Fills `batch` with the images of `set` at `indices[0 .. count)`, reusing its memory. Throws what
/// Dataset::read() throws.
void fill_batch(const Dataset& set, const std::int64_t* indices, std::int64_t count,
                const ImageTransform& transform, ImageTransform::Scratch& scratch, Batch& batch);

/// The same, but with the pixels as they are stored, and no images.
void fill_batch_with_pixels(const Dataset& set, const std::int64_t* indices, std::int64_t count,
                            ImageTransform::Scratch& scratch, Batch& batch);

}  // namespace hpcboot::data
