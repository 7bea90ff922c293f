#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/line_kernels.hpp"

namespace hpcboot::data {

/// A model sees (pixel - mean) / std, with pixels in [0, 1].
struct Normalization {
  std::vector<float> mean;  ///< of each channel, or one for all
  std::vector<float> std;   ///< standard deviations, likewise

  float mean_of(std::size_t channel) const { return mean[mean.size() == 1 ? 0 : channel]; }
  float std_of(std::size_t channel) const { return std[std.size() == 1 ? 0 : channel]; }
};

/// Of MNIST's training pixels.
inline Normalization mnist_normalization() {
  return {{0.1307F}, {0.3081F}};
}

/// Turns channels of rows x cols pixels into normalised ones of size x size floats.
///
/// A byte becomes (byte / 255 - mean) / std, a float (pixel - mean) / std. The resize is bilinear
/// with pixel centres at half coordinates, edges repeated, and no antialiasing when it shrinks:
/// what PyTorch's torch.nn.functional.interpolate(mode="bilinear", align_corners=False) computes.
/// The weights are computed once; convert() may be called from several threads at once.
class ImageTransform {
 public:
  /// Throws std::invalid_argument if a size is not positive.
  ImageTransform(std::int64_t rows, std::int64_t cols, std::int64_t size,
                 const Normalization& normalization = mnist_normalization());

  /// Working memory of one thread; empty at first.
  using Scratch = std::vector<float>;

  /// Reads rows x cols pixels of channel number `channel` and writes size x size floats.
  void convert(const std::uint8_t* pixels, std::size_t channel, float* out, Scratch& scratch) const;
  void convert(const float* pixels, std::size_t channel, float* out, Scratch& scratch) const;

 private:
  static LineTaps make_taps(std::int64_t in, std::int64_t out);
  template <typename Pixel, typename ValueOf>
  void resize(const Pixel* pixels, float* out, Scratch& scratch, ValueOf value_of) const;

  std::size_t rows_;
  std::size_t cols_;
  LineTaps lines_;
  LineTaps columns_;
  LineKernels kernels_ = line_kernels();
  Normalization normalization_;
  /// The normalised value of each of the 256 bytes, for each channel or for all.
  std::vector<std::vector<float>> values_;
};

}  // namespace hpcboot::data
