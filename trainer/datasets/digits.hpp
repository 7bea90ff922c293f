#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "datasets/idx.hpp"

namespace hpcboot::data {

/// What to make. Two sets of equal numbers and seed are equal, byte by byte.
struct DigitsOptions {
  std::int64_t train = 60000;  ///< images to learn from
  std::int64_t test = 10000;   ///< images to validate with, drawn apart from the others
  std::uint64_t seed = 1234;
  int threads = 0;  ///< 0: one for each core; the images are the same for any number
  /// Called now and then on the calling thread: images drawn so far, and in all.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Draws one half of a data set in the manner of MNIST: 28 x 28 pixels, white digits on black, as
/// many of each as the number allows, shuffled. The same options give the same bytes everywhere.
/// Throws std::invalid_argument where a number of images is not positive.
ImageSet make_digits(Split split, const DigitsOptions& options = {});

/// Draws both halves and writes the four files, uncompressed, into `folder`, which is made where it
/// is missing. They are written beside their place and moved there when all are complete. Throws
/// Error{unwritable_output} where the folder has such files already, or cannot be written.
void write_digits(const std::filesystem::path& folder, const DigitsOptions& options = {});

}  // namespace hpcboot::data
