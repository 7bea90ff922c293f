#include "datasets/digits.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "datasets/digit_renderer.hpp"
#include "datasets/mnist_folder.hpp"
#include "datasets/random.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

constexpr int kDigits = 10;
constexpr std::int64_t kChunk = 256;
// Streams of the generator: image i of a split uses stream base + i, the shuffle of its labels
// stream base - 1.
constexpr std::uint64_t kStreamsOfSplit = std::uint64_t{1} << 40;

std::uint64_t first_stream(Split split) {
  return kStreamsOfSplit * (split == Split::train ? 1 : 2);
}

/// Every digit equally often, as far as the count divides evenly, in random order.
std::vector<std::uint8_t> make_labels(std::int64_t count, std::uint64_t seed, Split split) {
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::uint8_t>(i % kDigits);
  }
  Random random(seed, first_stream(split) - 1);
  for (std::size_t i = labels.size(); i > 1; --i) {
    std::swap(labels[i - 1], labels[static_cast<std::size_t>(random.below(i))]);
  }
  return labels;
}

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
  set.labels = make_labels(set.count, options.seed, split);
  constexpr std::size_t kImage = std::size_t{kDigitSide} * kDigitSide;
  set.pixels.resize(set.labels.size() * kImage);

  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};
  const auto draw = [&](bool reports) {
    while (true) {
      const std::int64_t begin = next.fetch_add(kChunk);
      if (begin >= set.count) return;
      const std::int64_t end = std::min(begin + kChunk, set.count);
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        Random random(options.seed, first_stream(split) + i);
        draw_digit(set.labels[i], random, set.pixels.data() + i * kImage);
      }
      const std::int64_t so_far = done += end - begin;
      if (reports && options.progress) options.progress(so_far, set.count);
    }
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const int threads = options.threads > 0 ? options.threads : static_cast<int>(cores);
  std::vector<std::future<void>> helpers;
  for (int i = 1; i < threads; ++i) {
    helpers.push_back(std::async(std::launch::async, draw, false));
  }
  draw(true);
  for (auto& helper : helpers) helper.get();
  if (options.progress) options.progress(set.count, set.count);
  return set;
}

void write_digits(const fs::path& folder, const DigitsOptions& options) {
  fill_mnist_folder(folder, false, [&](const fs::path& place) { make_and_write(place, options); });
}

}  // namespace hpcboot::data
