#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "datasets/cifar.hpp"

namespace hpcboot::data {

/// What to make. Equal numbers and an equal seed give equal bytes.
struct PicturesOptions {
  int classes = 10;            ///< 10 or 100
  std::int64_t train = 50000;  ///< training images
  std::int64_t test = 10000;   ///< test images, drawn independently of the others
  std::uint64_t seed = 1234;
  int threads = 0;  ///< 0: one per core; the images do not depend on it
  /// Called periodically on the calling thread: images drawn so far, and in total.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Draws one split of a data set in the style of CIFAR: 3 x 32 x 32 pixels, a coloured shape each,
/// every class equally often as far as the count divides evenly, shuffled. The same options give
/// the same bytes everywhere. Throws std::invalid_argument if a number of images is not positive,
/// or there are not 10 or 100 classes.
CifarImages make_pictures(Split split, const PicturesOptions& options = {});

/// Draws both splits and writes them into `folder`, which is created if missing, in CIFAR's binary
/// form, with the names of the classes. The files are staged and moved into place when all are
/// complete. Throws Error{unwritable_output} if the folder already contains data files or cannot be
/// written.
void write_pictures(const std::filesystem::path& folder, const PicturesOptions& options = {});

}  // namespace hpcboot::data
