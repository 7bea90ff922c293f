#pragma once

#include <optional>

#include "hpcboot/env.hpp"

namespace hpcboot::train {

/// Cores that this process may run on (its affinity mask).
int cores_of_this_process();

/// Number of compute threads for a rank: its share of the cores. If a launcher has bound the rank
/// to some cores, it has already divided them; otherwise the ranks of a host divide them. By
/// default, every rank would use all cores.
/// @param bound_cores cores_of_this_process(), host_cores all cores of the host
/// @param quota cpus_of_quota(), which the ranks of a host share
int threads_per_rank(int bound_cores, int host_cores, std::optional<int> quota,
                     std::optional<int> local_size);

/// OMP_NUM_THREADS, if it is meant for one rank: its first level. PBS sets it to the CPUs of a
/// host, however many ranks that has.
std::optional<int> threads_told(const Env& env, std::optional<int> local_size);

/// Number of compute threads for this rank, if the user asks for none in particular.
int default_threads(const Env& env, std::optional<int> local_size);

}  // namespace hpcboot::train
