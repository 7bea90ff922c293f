#pragma once

#include "hpcboot/resolve.hpp"

namespace hpcboot::tool {

// Did nobody place this process, and does nothing say that it should have peers?
inline bool is_alone(const Resolution& r) {
  return r.launcher == "single" && r.allocation_tasks.value_or(1) <= 1 && r.hosts.size() <= 1;
}

// The launcher of a process that hpcboot itself makes rank 0 of 1: torch_env() tells its rank.
constexpr const char* kMadeAlone = "exec";

}  // namespace hpcboot::tool
