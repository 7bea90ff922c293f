#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "record/safetensors.hpp"

// What reading and writing the format have in common.
namespace hpcboot::record {

inline constexpr std::string_view kMetadataKey = "__metadata__";
inline constexpr std::uint64_t kHeaderLengthBytes = 8;

/// Bytes of a tensor; nothing if a dimension is negative or the product exceeds 64 bits.
std::optional<std::uint64_t> byte_count(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace hpcboot::record
