#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datasets/array_file.hpp"
#include "datasets/sequence_set.hpp"

namespace hpcboot::data {

/// An array to be written, whose rows are read block by block.
struct ArraySource {
  std::string name;  ///< "train/source"
  record::DType type = record::DType::f32;
  std::vector<std::int64_t> shape;
  /// Reads rows first, first + 1, … into `out`.
  std::function<void(std::int64_t first, std::int64_t count, std::uint8_t* out)> read;

  std::size_t row_bytes() const;
};

/// The arrays of both splits of a set of sequences, which must outlive them.
std::vector<ArraySource> arrays_of(const SequenceSet& train, const SequenceSet& test);

/// Calls `action(first, count, rows)` for block after block of an array, some MiB at a time.
/// @param multiple each block but the last holds a multiple of this many rows (0: any)
template <typename Action>
void for_each_rows(const ArraySource& array, std::int64_t multiple, Action action) {
  constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
  const std::int64_t unit = std::max<std::int64_t>(1, multiple);
  const std::int64_t fit = kBlockBytes / static_cast<std::int64_t>(array.row_bytes());
  const std::int64_t most = std::min(array.shape[0], std::max<std::int64_t>(1, fit / unit) * unit);
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(most) * array.row_bytes());
  for (std::int64_t first = 0; first < array.shape[0]; first += most) {
    const std::int64_t count = std::min(most, array.shape[0] - first);
    array.read(first, count, rows.data());
    action(first, count, rows.data());
  }
}

/// A whole array in memory.
/// @param progress called with the number of rows read since the last call
std::vector<std::uint8_t> read_whole(const ArraySource& array,
                                     const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
