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
/// only: RANK exported in a batch script would fool every task that it starts. Last comes
/// HPCBOOT_EXPORTED, by which resolve() knows these variables again: under a launcher that is
/// started later they are those of another launch, and it reads them as if they were not set.
std::vector<std::pair<std::string, std::string>> torch_env(const Resolution& resolution,
                                                           const Env& env);

/// The variables in `env` that a torch.distributed program of this launch must not see, because
/// another launch left them: what is unknown here, what hpcboot exported for that launch, and what
/// an elastic agent further out has set.
std::vector<std::string> torch_unset(const Resolution& resolution, const Env& env);

/// One `export NAME=value` a line, values quoted for a POSIX shell.
std::string to_shell(const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace hpcboot
