#include "loop/keep_memory.hpp"

#include <cstdlib>  // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hpcboot::train {

void keep_freed_memory() noexcept {
#ifdef __GLIBC__
  // mallopt(3): blocks of M_MMAP_THRESHOLD or more are mapped separately, and unmapped when they
  // are freed; the top of the heap is returned once M_TRIM_THRESHOLD of it is free.
  constexpr int kNever = 1 << 30;
  constexpr int kLargestAllowed = 32 << 20;  // glibc's limit of M_MMAP_THRESHOLD
  if (mallopt(M_MMAP_THRESHOLD, kNever) == 0) mallopt(M_MMAP_THRESHOLD, kLargestAllowed);
  mallopt(M_TRIM_THRESHOLD, kNever);
#endif
}

}  // namespace hpcboot::train
