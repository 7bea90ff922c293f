#pragma once

#include <optional>

namespace hpcboot::train {

/// Cores that this process may run on (its affinity mask).
int cores_of_this_process();

/// How many threads a rank should compute with: its share of the cores. A launcher that bound the
/// rank to some cores has shared them out already; otherwise the ranks of a host divide them.
/// Without this every rank takes all cores, and under PBS is told to (OMP_NUM_THREADS is the
/// host's).
/// @param bound_cores cores_of_this_process(), host_cores all cores of the host
int threads_per_rank(int bound_cores, int host_cores, std::optional<int> local_size);

}  // namespace hpcboot::train
