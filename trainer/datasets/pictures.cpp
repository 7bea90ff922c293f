#include "datasets/pictures.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "datasets/cifar_folder.hpp"
#include "datasets/data_folder.hpp"
#include "datasets/drawing.hpp"
#include "datasets/picture_renderer.hpp"
#include "datasets/random.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

constexpr int kBatches = 5;           // files of CIFAR-10's training set
constexpr std::size_t kChunk = 1024;  // records
constexpr std::uint8_t kFinePerCoarse = 5;

/// The images from number `first` to `last` - 1 as a file of CIFAR's binary form.
void write_records(const fs::path& path, int classes, const CifarImages& images, std::size_t first,
                   std::size_t last) {
  record::AtomicFile file(path);
  std::vector<std::uint8_t> chunk;
  for (std::size_t i = first; i < last; ++i) {
    if (classes > kClasses)
      chunk.push_back(static_cast<std::uint8_t>(images.labels[i] / kFinePerCoarse));
    chunk.push_back(images.labels[i]);
    const auto pixels = images.pixels.begin() + static_cast<std::ptrdiff_t>(i * kCifarImage);
    chunk.insert(chunk.end(), pixels, pixels + kCifarImage);
    if ((i - first) % kChunk == kChunk - 1 || i + 1 == last) {
      file.write(chunk.data(), chunk.size());
      chunk.clear();
    }
  }
  file.commit();
}

void write_split(const fs::path& folder, Split split, int classes, const CifarImages& images) {
  const std::size_t count = images.labels.size();
  const bool has_one = split == Split::test || classes > kClasses;
  const std::size_t files = has_one ? 1 : std::min<std::size_t>(kBatches, count);
  for (std::size_t i = 0; i < files; ++i) {
    const fs::path path = folder / cifar_binary_name(classes, split, static_cast<int>(i) + 1);
    write_records(path, classes, images, i * count / files, (i + 1) * count / files);
  }
}

void write_names(const fs::path& folder, int classes) {
  std::string names;
  for (int label = 0; label < classes; ++label) names += picture_name(label, classes) + "\n";
  if (classes == kClasses) {
    record::write_file_atomically(folder / "batches.meta.txt", names);
    return;
  }
  std::string coarse;
  for (int label = 0; label < kCoarseClasses; ++label) coarse += coarse_picture_name(label) + "\n";
  record::write_file_atomically(folder / "fine_label_names.txt", names);
  record::write_file_atomically(folder / "coarse_label_names.txt", coarse);
}

void make_and_write(const fs::path& folder, const PicturesOptions& options) {
  std::int64_t before = 0;
  PicturesOptions part = options;
  if (options.progress) {
    part.progress = [&options, &before](std::int64_t done, std::int64_t) {
      options.progress(before + done, options.train + options.test);
    };
  }
  write_split(folder, Split::train, options.classes, make_pictures(Split::train, part));
  before = options.train;
  write_split(folder, Split::test, options.classes, make_pictures(Split::test, part));
  write_names(folder, options.classes);
}

}  // namespace

CifarImages make_pictures(Split split, const PicturesOptions& options) {
  const std::int64_t count = split == Split::train ? options.train : options.test;
  if (count <= 0) throw std::invalid_argument("make_pictures: no images requested");
  if (options.classes != kClasses && options.classes != kMaxClasses)
    throw std::invalid_argument("make_pictures: not 10 or 100 classes");
  CifarImages images;
  images.labels =
      make_labels(count, static_cast<std::uint64_t>(options.classes), options.seed, split);
  images.pixels.resize(images.labels.size() * kCifarImage);
  draw_all(count, options.threads, options.progress, [&](std::size_t i) {
    Random random(options.seed, first_stream(split) + i);
    draw_picture(images.labels[i], options.classes, random, images.pixels.data() + i * kCifarImage);
  });
  return images;
}

void write_pictures(const fs::path& folder, const PicturesOptions& options) {
  fill_data_folder(folder, false, [&](const fs::path& place) { make_and_write(place, options); });
}

}  // namespace hpcboot::data
