#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "datasets/idx.hpp"

namespace hpcboot::data {

/// What to make. Equal counts and an equal seed give equal bytes.
struct DigitsOptions {
  std::int64_t train = 60000;  ///< training images
  std::int64_t test = 10000;   ///< test images, drawn independently of the others
  std::uint64_t seed = 1234;
  int threads = 0;  ///< 0: one per core; the images do not depend on it
  /// Called periodically on the calling thread: images drawn so far, and in total.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Draws one split of a data set in the style of MNIST: 28 x 28 pixels, white digits on black, each
/// digit equally often as far as the count divides evenly, shuffled. The same options give the same
/// bytes everywhere. Throws std::invalid_argument if a number of images is not positive.
ImageSet make_digits(Split split, const DigitsOptions& options = {});

/// Draws both splits and writes the four files, uncompressed, into `folder`, which is created if
/// missing. The files are staged and moved into place when all are complete. Throws
/// Error{unwritable_output} if the folder already contains such files or cannot be written.
void write_digits(const std::filesystem::path& folder, const DigitsOptions& options = {});

}  // namespace hpcboot::data
