#pragma once

#include <cstdint>

/// Counts what LibTorch's allocator for the CPU hands out. A program that links counted_memory.cpp
/// counts from its start.
namespace hpcboot::counted_memory {

std::int64_t live();  ///< bytes
std::int64_t peak();  ///< of live(), since forget_peak()
void forget_peak();

}  // namespace hpcboot::counted_memory
