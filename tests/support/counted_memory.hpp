#pragma once

#include <cstdint>

/// Counts what LibTorch's allocator for the CPU hands out. A program that links counted_memory.cpp
/// counts from its start.
namespace hpcboot::counted_memory {

std::int64_t live();  ///< bytes
/// Of live(), since forget_peak(), where operators begin and end: what oneDNN needs within one
/// depends on the processor's instructions and the number of threads.
std::int64_t peak();
void forget_peak();

}  // namespace hpcboot::counted_memory
