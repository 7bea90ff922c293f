#include "datasets/drawing.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include "datasets/random.hpp"

namespace hpcboot::data {
namespace {

constexpr std::int64_t kChunk = 256;
// Image i of a split uses stream base + i, the shuffle of its labels stream base - 1.
constexpr std::uint64_t kStreamsOfSplit = std::uint64_t{1} << 40;

}  // namespace

std::uint64_t first_stream(Split split) {
  return kStreamsOfSplit * (split == Split::train ? 1 : 2);
}

std::vector<std::uint8_t> make_labels(std::int64_t count, std::uint64_t classes, std::uint64_t seed,
                                      Split split) {
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::uint8_t>(i % classes);
  }
  Random random(seed, first_stream(split) - 1);
  for (std::size_t i = labels.size(); i > 1; --i) {
    std::swap(labels[i - 1], labels[static_cast<std::size_t>(random.below(i))]);
  }
  return labels;
}

void draw_all(std::int64_t count, int threads,
              const std::function<void(std::int64_t, std::int64_t)>& progress,
              const std::function<void(std::size_t)>& draw) {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};
  const auto draw_chunks = [&](bool reports) {
    while (true) {
      const std::int64_t begin = next.fetch_add(kChunk);
      if (begin >= count) return;
      const std::int64_t end = std::min(begin + kChunk, count);
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        draw(i);
      const std::int64_t so_far = done += end - begin;
      if (reports && progress) progress(so_far, count);
    }
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const int workers = threads > 0 ? threads : static_cast<int>(cores);
  std::vector<std::future<void>> helpers;
  for (int i = 1; i < workers; ++i) {
    helpers.push_back(std::async(std::launch::async, draw_chunks, false));
  }
  draw_chunks(true);
  for (auto& helper : helpers) helper.get();
  if (progress) progress(count, count);
}

}  // namespace hpcboot::data
