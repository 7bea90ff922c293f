#include "datasets/digits.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

#include "datasets/data_folder.hpp"
#include "datasets/digit_renderer.hpp"
#include "datasets/drawing.hpp"
#include "datasets/random.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDigits = 10;

void write_set(const fs::path& folder, Split split, const ImageSet& set) {
  write_idx_images(folder / images_file_name(split), set);
  write_idx_labels(folder / labels_file_name(split), set);
}

void make_and_write(const fs::path& folder, const DigitsOptions& options) {
  std::int64_t before = 0;
  DigitsOptions part = options;
  if (options.progress) {
    part.progress = [&options, &before](std::int64_t done, std::int64_t) {
      options.progress(before + done, options.train + options.test);
    };
  }
  write_set(folder, Split::train, make_digits(Split::train, part));
  before = options.train;
  write_set(folder, Split::test, make_digits(Split::test, part));
}

}  // namespace

ImageSet make_digits(Split split, const DigitsOptions& options) {
  ImageSet set;
  set.count = split == Split::train ? options.train : options.test;
  if (set.count <= 0) throw std::invalid_argument("make_digits: no images requested");
  set.rows = set.cols = kDigitSide;
  set.source = "digits of seed " + std::to_string(options.seed);
  set.labels = make_labels(set.count, kDigits, options.seed, split);
  constexpr std::size_t kImage = std::size_t{kDigitSide} * kDigitSide;
  set.pixels.resize(set.labels.size() * kImage);
  draw_all(set.count, options.threads, options.progress, [&](std::size_t i) {
    Random random(options.seed, first_stream(split) + i);
    draw_digit(set.labels[i], random, set.pixels.data() + i * kImage);
  });
  return set;
}

void write_digits(const fs::path& folder, const DigitsOptions& options) {
  fill_data_folder(folder, false, [&](const fs::path& place) { make_and_write(place, options); });
}

}  // namespace hpcboot::data
