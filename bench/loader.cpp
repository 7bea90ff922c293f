// Throughput of images: resized and normalised on one thread, through the loader, and drawn.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "datasets/batch_loader.hpp"
#include "datasets/digits.hpp"

namespace hpcboot::data {
namespace {

constexpr std::int64_t kImages = 4096;
constexpr std::int64_t kBatch = 64;

const Dataset& digits() {
  static const MemoryDataset kDigits = [] {
    DigitsOptions options;
    options.train = kImages;
    return MemoryDataset(make_digits(Split::train, options));
  }();
  return kDigits;
}

std::vector<std::int64_t> all_indices() {
  std::vector<std::int64_t> indices(kImages);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

/// Argument: the size to which images of 28 x 28 pixels are resized.
void fill_batches(benchmark::State& state) {
  const Dataset& set = digits();
  const ImageTransform transform(set.shape().rows, set.shape().cols, state.range(0));
  const auto indices = all_indices();
  ImageTransform::Scratch scratch;
  Batch batch;
  for (auto _ : state) {
    for (std::int64_t begin = 0; begin < kImages; begin += kBatch) {
      fill_batch(set, indices.data() + begin, kBatch, transform, scratch, batch);
      benchmark::DoNotOptimize(batch.images.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * kImages);
}

/// Arguments: size, worker threads. An epoch from its first batch to its last.
void load_epoch(benchmark::State& state) {
  const Dataset& set = digits();
  LoaderOptions options;
  options.threads = static_cast<int>(state.range(1));
  Batch batch;
  for (auto _ : state) {
    BatchLoader loader(set, all_indices(), kBatch, state.range(0), options);
    while (loader.next(batch)) benchmark::DoNotOptimize(batch.images.data());
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
