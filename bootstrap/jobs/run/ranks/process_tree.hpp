#pragma once

#include <sys/types.h>

#include <vector>

namespace hpcboot::run {

// The descendants of `parent`, without it, as /proc shows them now.
std::vector<pid_t> descendants_of(pid_t parent);

}  // namespace hpcboot::run
