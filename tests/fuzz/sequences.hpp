#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "datasets/sequence_set.hpp"

namespace hpcboot::fuzz {

/// Reads the pairs of sequences in a file, up to about a mebibyte.
/// @return whether it has any
inline bool read_sequences(const std::shared_ptr<const data::ArrayFile>& file) {
  if (!data::has_sequences(*file)) return false;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  const auto set = data::open_sequence_split(file, data::Split::train, 0);
  std::vector<std::uint8_t> source(set->source().bytes());
  std::vector<std::uint8_t> target(set->target().bytes());
  const auto most = static_cast<std::int64_t>(kMostBytes / (source.size() + target.size()) + 1);
  for (std::int64_t i = 0; i < std::min(set->count(), most); ++i)
    set->read(&i, 1, source.data(), target.data());
  return true;
}

}  // namespace hpcboot::fuzz
