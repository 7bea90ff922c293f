#pragma once

#include <sys/types.h>

#include <vector>

namespace hpcboot::run {

// The processes below `parent`, without it, as /proc has them now.
std::vector<pid_t> descendants_of(pid_t parent);

}  // namespace hpcboot::run
