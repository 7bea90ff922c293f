#include "loop/keep_memory.hpp"

#include <cstdlib>  // tells whether the C library is glibc
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hpcboot::train {

void keep_freed_memory() noexcept {
#ifdef __GLIBC__
  // mallopt(3): blocks from M_MMAP_THRESHOLD on are maps of their own, unmapped when they are
  // freed; the end of the heap is given back once it is M_TRIM_THRESHOLD long.
  constexpr int kNever = 1 << 30;
  constexpr int kLargestAllowed = 32 << 20;  // of M_MMAP_THRESHOLD, where glibc limits it
  if (mallopt(M_MMAP_THRESHOLD, kNever) == 0) mallopt(M_MMAP_THRESHOLD, kLargestAllowed);
  mallopt(M_TRIM_THRESHOLD, kNever);
#endif
}

}  // namespace hpcboot::train
