#include "loop/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <string_view>

namespace hpcboot::train {

int cores_of_this_process() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return std::max(1, CPU_COUNT(&mask));
}

int threads_per_rank(int bound_cores, int host_cores, std::optional<int> quota,
                     std::optional<int> local_size) {
  const int ranks = local_size.value_or(1);
  const int cores = bound_cores < host_cores ? bound_cores : host_cores / ranks;
  return std::max(1, std::min(cores, quota.value_or(host_cores) / ranks));
}

std::optional<int> threads_told(const Env& env, std::optional<int> local_size) {
  constexpr int kMostThreads = 1024;
  const std::string_view text = env.text("OMP_NUM_THREADS").value_or("");
  const auto told = parse_whole_number(text.substr(0, text.find(',')));
  if (!told || *told < 1 || *told > kMostThreads) return std::nullopt;
  const bool is_of_host = env.has("PBS_JOBID") && env.text("NCPUS") == text &&
                          local_size.value_or(1) > 1 && !env.has("HPCBOOT_RUN_ID");
  if (is_of_host) return std::nullopt;
  return static_cast<int>(*told);
}

}  // namespace hpcboot::train
