#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "datasets/batch_loader.hpp"
#include "datasets/image_samples.hpp"
#include "datasets/synthetic.hpp"
#include "loop/threads.hpp"
#include "machine/benches.hpp"

namespace hpcboot::machine {
namespace {

constexpr std::int64_t kImages = 1024;
constexpr std::int64_t kBatch = 64;
constexpr int kEpochs = 5;

/// Seconds for all images, with nothing else to do.
double epoch(const data::Samples& samples, int threads) {
  std::vector<std::int64_t> indices(kImages);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  data::LoaderOptions options;
  options.threads = threads;
  const auto begin = std::chrono::steady_clock::now();
  data::BatchLoader loader(samples, std::move(indices), kBatch, options);
  data::Batch batch;
  while (loader.next(batch)) {
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

BenchResult loader_bench(const Bench& /*bench*/) {
  BenchResult result;
  result.columns = {"threads", "pixels"};
  result.items_name = "Images/s";
  result.bytes_name = "GB/s made";
  result.note =
      "Computed RGB images of 64 x 64 pixels, resized and normalised, in batches of 64; reading "
      "from "
      "files comes on top.";
  const int most = std::max(1, train::cores_of_this_process());
  const std::shared_ptr<const data::Dataset> set = data::open_synthetic(
      fmt::format("{}{}x3x64x64", data::kSyntheticPrefix, kImages), data::Split::train, 0);
  for (int threads = 1; threads <= most; threads *= 2) {
    for (const std::int64_t pixels : {32, 128, 224}) {
      data::ImageOptions options;
      options.size = pixels;
      const data::ImageSamples samples(set, options);
      std::vector<double> seconds;
      for (int i = 0; i < kEpochs; ++i) seconds.push_back(epoch(samples, threads));
      std::sort(seconds.begin(), seconds.end());
      BenchRow row;
      row.what = {std::to_string(threads), std::to_string(pixels)};
      row.size = static_cast<double>(pixels);
      row.items = kImages;
      row.bytes = static_cast<double>(kImages * 3 * pixels * pixels) * sizeof(float);
      row.timing = {seconds[kEpochs / 2], seconds.front(), seconds.back(), kEpochs};
      result.rows.push_back(row);
    }
  }
  return result;
}

}  // namespace hpcboot::machine
