#pragma once

#include <optional>

namespace hpcboot::train {

/// Cores that this process may run on (its affinity mask).
int cores_of_this_process();

/// Number of compute threads for a rank: its share of the cores. If a launcher has bound the rank
/// to some cores, it has already divided them; otherwise the ranks of a host divide them. By
/// default, every rank would use all cores, as PBS requests, too (its OMP_NUM_THREADS is for the
/// whole host).
/// @param bound_cores cores_of_this_process(), host_cores all cores of the host
int threads_per_rank(int bound_cores, int host_cores, std::optional<int> local_size);

}  // namespace hpcboot::train
