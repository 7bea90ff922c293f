#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// The variables that torch.distributed programs read, in a fixed order: RANK, WORLD_SIZE,
/// LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, and
/// NCCL_SOCKET_IFNAME
/// ("=name": NCCL would take a bare name for a prefix) and GLOO_SOCKET_IFNAME (exact) where an
/// interface was chosen and `env` does not have the variable: users may have their own. Unknown
/// ones are left out. Where no launcher placed this process there are MASTER_ADDR and MASTER_PORT
/// only: RANK exported in a batch script would fool every task that it starts.
std::vector<std::pair<std::string, std::string>> torch_env(const Resolution& resolution,
                                                           const Env& env);

/// One `export NAME=value` a line, values quoted for a POSIX shell.
std::string to_shell(const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace hpcboot
