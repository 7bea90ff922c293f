#include "loop/threads.hpp"

#include <sched.h>

#include <algorithm>

namespace hpcboot::train {

int cores_of_this_process() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return std::max(1, CPU_COUNT(&mask));
}

int threads_per_rank(int bound_cores, int host_cores, std::optional<int> local_size) {
  if (bound_cores < host_cores) return bound_cores;
  return std::max(1, host_cores / local_size.value_or(1));
}

}  // namespace hpcboot::train
