#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// The variables that torch.distributed programs read, in a fixed order: RANK, WORLD_SIZE,
/// LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, then
/// NCCL_SOCKET_IFNAME ("=name", since NCCL treats a bare name as a prefix) and GLOO_SOCKET_IFNAME
/// (exact) if an interface was chosen and `env` does not already set the variable. Unknown values
/// are omitted. If no launcher placed this process, only MASTER_ADDR and MASTER_PORT are exported:
/// every task started by a batch script would inherit its RANK. The last variable is
/// HPCBOOT_EXPORTED, by which resolve() recognises these variables: under a launcher started later
/// they belong to another launch and are ignored.
std::vector<std::pair<std::string, std::string>> torch_env(const Resolution& resolution,
                                                           const Env& env);

/// The variables in `env` that a torch.distributed program of this launch must not see, because
/// another launch left them: those without a value in this launch, those that hpcboot exported for
/// the other launch, and those set by an outer elastic agent.
std::vector<std::string> torch_unset(const Resolution& resolution, const Env& env);

/// One `export NAME=value` per line, values quoted for a POSIX shell.
std::string to_shell(const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace hpcboot
