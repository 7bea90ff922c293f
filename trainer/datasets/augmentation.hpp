#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/random.hpp"

namespace hpcboot::data {

/// Random changes of training images. They depend on the seed, the epoch and the image alone: not
/// on the number of ranks or threads, and a resumed run makes the same.
struct Augmentation {
  /// Pixels of black around an image, of which a window of the image's size is taken; 0: no crop.
  std::int64_t padding = 0;
  bool flip = false;  ///< mirror every second image, left to right
  /// mix-up (Zhang and others, 2017): the parameter of the beta distribution of the weights; 0:
  /// off.
  double mixup = 0;
  std::uint64_t seed = 0;

  bool changes_pixels() const noexcept { return padding > 0 || flip; }
};

/// The random numbers of one image, or of one batch, in one epoch.
Random random_of(const Augmentation& how, int epoch, std::int64_t index);

/// Crops and flips an image in place.
/// @param scratch working memory of one thread
void augment(const Augmentation& how, const ImageShape& shape, PixelType type, Random random,
             std::uint8_t* image, std::vector<std::uint8_t>& scratch);

/// A number in [0, 1], beta-distributed with both parameters `alpha`, above 0 and at most 1
/// (Jöhnk's method, 1964).
float draw_beta(double alpha, Random& random);

}  // namespace hpcboot::data
