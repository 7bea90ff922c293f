// Throughput of images: resized and normalised on one thread, through the loader, and drawn.
#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <vector>

#include "datasets/batch_loader.hpp"
#include "datasets/digits.hpp"
#include "datasets/image_samples.hpp"

namespace hpcboot::data {
namespace {

constexpr std::int64_t kImages = 4096;
constexpr std::int64_t kBatch = 64;

ImageSamples digits(std::int64_t size) {
  static const auto kDigits = [] {
    DigitsOptions options;
    options.train = kImages;
    return std::make_shared<MemoryDataset>(make_digits(Split::train, options));
  }();
  ImageOptions options;
  options.size = size;
  return {kDigits, options};
}

std::vector<std::int64_t> all_indices() {
  std::vector<std::int64_t> indices(kImages);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

/// Argument: the size to which images of 28 x 28 pixels are resized.
void fill_batches(benchmark::State& state) {
  const ImageSamples set = digits(state.range(0));
  const auto indices = all_indices();
  Batch batch;
  for (auto _ : state) {
    for (std::int64_t begin = 0; begin < kImages; begin += kBatch) {
      set.fill({indices.data() + begin, kBatch}, batch);
      benchmark::DoNotOptimize(batch.parts[0].bytes.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * kImages);
}

/// Arguments: size, worker threads. An epoch from its first batch to its last.
void load_epoch(benchmark::State& state) {
  const ImageSamples set = digits(state.range(0));
  LoaderOptions options;
  options.threads = static_cast<int>(state.range(1));
  Batch batch;
  for (auto _ : state) {
    BatchLoader loader(set, all_indices(), kBatch, options);
    while (loader.next(batch)) benchmark::DoNotOptimize(batch.parts[0].bytes.data());
  }
  state.SetItemsProcessed(state.iterations() * kImages);
}

/// Argument: threads.
void draw_digits(benchmark::State& state) {
  DigitsOptions options;
  options.train = kImages;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(make_digits(Split::train, options).pixels.data());
  state.SetItemsProcessed(state.iterations() * kImages);
}

BENCHMARK(fill_batches)->ArgName("size")->Arg(28)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(load_epoch)
    ->ArgNames({"size", "threads"})
    ->Args({128, 1})
    ->Args({128, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(draw_digits)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hpcboot::data
