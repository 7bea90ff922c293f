#include "loop/threads.hpp"

#include <algorithm>
#include <thread>

#include "core/cpu_quota.hpp"
#include "core/numa.hpp"
#include "core/omp_threads.hpp"

namespace hpcboot::train {

int cores_of_this_process() {
  return std::max(1, static_cast<int>(cpus_of_this_process().size()));
}

int threads_per_rank(int bound_cores, int host_cores, std::optional<int> quota,
                     std::optional<int> local_size) {
  const int ranks = local_size.value_or(1);
  const int cores = bound_cores < host_cores ? bound_cores : host_cores / ranks;
  return std::max(1, std::min(cores, quota.value_or(host_cores) / ranks));
}

std::optional<int> threads_told(const Env& env, std::optional<int> local_size) {
  constexpr int kMostThreads = 1024;
  const auto told = omp_threads(env);
  if (!told || *told > kMostThreads) return std::nullopt;
  const bool is_of_host = env.has("PBS_JOBID") && has_omp_threads_of_a_chunk(env) &&
                          local_size.value_or(1) > 1 && !env.has("HPCBOOT_RUN_ID");
  if (is_of_host) return std::nullopt;
  return static_cast<int>(*told);
}

int default_threads(const Env& env, std::optional<int> local_size) {
  return threads_told(env, local_size)
      .value_or(threads_per_rank(cores_of_this_process(),
                                 static_cast<int>(std::thread::hardware_concurrency()),
                                 cpus_of_quota(), local_size));
}

}  // namespace hpcboot::train
