#include "datasets/samples.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdio>

namespace hpcboot::data {

std::vector<std::int64_t> spread_indices(std::int64_t count) {
  const std::int64_t number = std::min<std::int64_t>(8, count);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < number; ++i) {
    // i * count / number without overflow.
    indices.push_back(count / number * i + count % number * i / number);
  }
  return indices;
}

std::uint32_t checksum_of(const std::vector<std::uint8_t>& bytes, std::uint32_t sum) {
  return static_cast<std::uint32_t>(::crc32_z(sum, bytes.data(), bytes.size()));
}

std::string checksum_text(std::uint32_t sum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}

}  // namespace hpcboot::data
