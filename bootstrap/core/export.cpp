#include "hpcboot/export.hpp"

#include "hpcboot/encode.hpp"

namespace hpcboot {

std::vector<std::pair<std::string, std::string>> torch_env(const Resolution& r, const Env& env) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) out.emplace_back(name, std::to_string(*value));
  };
  const Placement& p = r.placement;
  if (r.launcher != "single") {
    add("RANK", p.rank);
    add("WORLD_SIZE", p.world_size);
    add("LOCAL_RANK", p.local_rank);
    add("LOCAL_WORLD_SIZE", p.local_size);
    add("GROUP_RANK", p.node_rank);
    add("GROUP_WORLD_SIZE", p.num_nodes);
  }
  if (r.master_addr) out.emplace_back("MASTER_ADDR", *r.master_addr);
  add("MASTER_PORT", r.master_port);
  if (r.interface && r.launcher != "single") {
    if (!env.has("NCCL_SOCKET_IFNAME")) out.emplace_back("NCCL_SOCKET_IFNAME", "=" + *r.interface);
    if (!env.has("GLOO_SOCKET_IFNAME")) out.emplace_back("GLOO_SOCKET_IFNAME", *r.interface);
  }
  return out;
}

std::string to_shell(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string out;
  for (const auto& [name, value] : variables)
    out.append("export ").append(name).append("=").append(shell_quote(value)).append("\n");
  return out;
}

}  // namespace hpcboot
