#include "datasets/array_source.hpp"

#include <limits>
#include <new>
#include <numeric>

namespace hpcboot::data {
namespace {

/// Sources and targets are read together, so the other side needs memory that nobody looks at.
ArraySource side(const SequenceSet& set, const SequenceSide& own, const std::string& name,
                 bool is_target) {
  ArraySource array{name, own.type, {set.count(), own.shape.length, own.shape.width}, {}};
  array.read = [&set, is_target](std::int64_t first, std::int64_t count, std::uint8_t* out) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), first);
    const SequenceSide& other = is_target ? set.source() : set.target();
    std::vector<std::uint8_t> unused(indices.size() * other.bytes());
    if (is_target) {
      set.read(indices.data(), count, unused.data(), out);
    } else {
      set.read(indices.data(), count, out, unused.data());
    }
  };
  return array;
}

}  // namespace

std::size_t ArraySource::row_bytes() const {
  std::size_t bytes = record::size_of(type);
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::size_t>(shape[i]);
  return bytes;
}

std::vector<ArraySource> arrays_of(const SequenceSet& train, const SequenceSet& test) {
  return {side(train, train.source(), source_array_name(Split::train), false),
          side(train, train.target(), target_array_name(Split::train), true),
          side(test, test.source(), source_array_name(Split::test), false),
          side(test, test.target(), target_array_name(Split::test), true)};
}

std::vector<std::uint8_t> read_whole(const ArraySource& array,
                                     const std::function<void(std::int64_t)>& progress) {
  const auto rows = static_cast<std::size_t>(array.shape[0]);
  if (rows > std::numeric_limits<std::size_t>::max() / array.row_bytes()) throw std::bad_alloc();
  std::vector<std::uint8_t> whole(rows * array.row_bytes());
  for_each_rows(array, 0, [&](std::int64_t first, std::int64_t count, const std::uint8_t* values) {
    std::copy_n(values, static_cast<std::size_t>(count) * array.row_bytes(),
                whole.data() + static_cast<std::size_t>(first) * array.row_bytes());
    progress(count);
  });
  return whole;
}

}  // namespace hpcboot::data
