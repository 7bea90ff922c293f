#pragma once

#include <cstdint>

namespace hpcboot::run {

// Number of processes on this host that the kernel has killed for lack of memory, either of a
// cgroup, as jobs have one, or of the host: oom_kill in /proc/vmstat (since Linux 4.13). 0 if
// unavailable.
std::int64_t oom_kills();

}  // namespace hpcboot::run
