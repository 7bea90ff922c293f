#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/random.hpp"

namespace hpcboot::data {

/// The least parameter of mix-up: with less, weights other than 0 and 1 practically never occur.
constexpr double kLeastMixup = 0.01;

/// Random changes of training images. Crops and flips depend on the seed, the epoch and the image
/// alone, not on the number of ranks or threads; mix-up, also on the batch of the rank. A resumed
/// run makes the same.
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

/// A number in [0, 1], beta-distributed with both parameters `alpha` (Jöhnk's method, 1964).
/// @param alpha from kLeastMixup to 1; for others std::invalid_argument is thrown
float draw_beta(double alpha, Random& random);

}  // namespace hpcboot::data
