#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "datasets/idx.hpp"

namespace hpcboot::data {

/// The stream of the generator (datasets/random.hpp) for image 0 of a split; image i uses the i-th
/// after it.
std::uint64_t first_stream(Split split);

/// Every label from 0 to classes - 1 equally often, as far as the count divides evenly, in random
/// order.
std::vector<std::uint8_t> make_labels(std::int64_t count, std::uint64_t classes, std::uint64_t seed,
                                      Split split);

/// Calls `draw` for each index below `count`, on several threads.
/// @param threads 0: one per core
/// @param progress called periodically on the calling thread, at last with done = total; may be
///   empty
void draw_all(std::int64_t count, int threads,
              const std::function<void(std::int64_t done, std::int64_t total)>& progress,
              const std::function<void(std::size_t index)>& draw);

}  // namespace hpcboot::data
