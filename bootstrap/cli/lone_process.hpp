#pragma once

#include "hpcboot/resolve.hpp"

namespace hpcboot::tool {

// Whether no launcher placed this process and nothing indicates that it should have peers.
inline bool is_alone(const Resolution& r) {
  return r.launcher == "single" && r.allocation_tasks.value_or(1) <= 1 && r.hosts.size() <= 1;
}

// The launcher of a process that hpcboot itself makes rank 0 of 1: torch_env() exports its rank.
constexpr const char* kMadeAlone = "exec";

}  // namespace hpcboot::tool
