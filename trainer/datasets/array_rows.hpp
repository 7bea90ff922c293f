#pragma once

#include <cstdint>

#include "datasets/array_file.hpp"

namespace hpcboot::data {

/// The bytes of one row of a readable array.
std::size_t row_bytes(const ArrayInfo& array);

/// Reads rows of a readable array into `out`, in the order of the indices, which may repeat; the
/// file is read in its own order, each row once.
/// @param row what a row is called in errors: "image"
/// @throws Error{malformed_data, unreadable_file} that names the row that cannot be read
void read_rows(const ArrayFile& file, const ArrayInfo& array, const char* row,
               const std::int64_t* indices, std::int64_t number, std::uint8_t* out);

}  // namespace hpcboot::data
