#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "datasets/augmentation.hpp"
#include "datasets/dataset.hpp"
#include "datasets/image_transform.hpp"
#include "datasets/samples.hpp"

namespace hpcboot::data {

/// How images become what a model sees.
struct ImageOptions {
  std::int64_t size = 28;  ///< side length in pixels
  Normalization normalization = mnist_normalization();
  bool pixels = false;  ///< leave resizing and normalising to a GPU: batches hold pixels
  Augmentation augmentation;
};

/// Labelled images. The parts of a batch of N:
///   0  N x C x size x size float32, normalised; or N x C x H x W pixels, as they are stored
///   1  N int64: the labels
/// and with mix-up
///   2  N int64: the positions in the batch of the images that are mixed in
///   3  N float32: the weights of the images themselves
class ImageSamples : public Samples {
 public:
  /// Throws std::invalid_argument if the size is not positive.
  ImageSamples(std::shared_ptr<const Dataset> set, ImageOptions options);

  void fill(const BatchOrder& order, Batch& batch) const override;
  std::string kind() const override { return "images of " + to_string(set_->shape()); }
  std::string checksum() const override;
  std::string checksum_of_labels() const override;

 private:
  void fill_mixup(const BatchOrder& order, Batch& batch) const;

  std::shared_ptr<const Dataset> set_;
  ImageOptions options_;
  ImageTransform transform_;
};

/// Of some images.
struct PixelRange {
  float least, greatest;  ///< NaNs apart; if all are NaN, least > greatest
  bool has_nan;
};

/// The range of some images if they are floats that are not all from 0 to 1: such a set is probably
/// normalised already, holds bytes as floats, or is damaged.
/// @throws Error{malformed_data, unreadable_file} if a file turns out to be damaged
std::optional<PixelRange> unusual_pixels(const Dataset& set);

}  // namespace hpcboot::data
