#pragma once

#include <cstdint>

namespace hpcboot::run {

// How many processes of this host the kernel has killed for want of memory, of a cgroup's limit, as
// jobs have one, or of the host: oom_kill in /proc/vmstat (Linux 4.13). 0 if it does not say.
std::int64_t oom_kills();

}  // namespace hpcboot::run
