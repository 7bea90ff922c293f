#include "hpcboot/export.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "contains.hpp"
#include "export_mark.hpp"
#include "hpcboot/encode.hpp"

namespace hpcboot {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Is this a plain variable name, safe to pass to a shell's unset?
bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Variables unmarked_torch_env(const Resolution& r, const Env& env) {
  Variables out;
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
    // A value that hpcboot chose earlier is not the user's choice.
    const std::vector<std::string> own = marked_exports(env);
    const auto is_chosen = [&](const char* name) { return env.has(name) && !contains(own, name); };
    if (!is_chosen("NCCL_SOCKET_IFNAME"))
      out.emplace_back("NCCL_SOCKET_IFNAME", "=" + *r.interface);
    if (!is_chosen("GLOO_SOCKET_IFNAME")) out.emplace_back("GLOO_SOCKET_IFNAME", *r.interface);
  }
  return out;
}

}  // namespace

Variables torch_env(const Resolution& r, const Env& env) {
  Variables out = unmarked_torch_env(r, env);
  if (out.empty()) return out;
  const Env base = without(env, torch_unset(r, env));
  Variables marked = out;
  // Exports of an outer call for this launch stay marked.
  const std::vector<std::string> foreign = foreign_exports(env);
  for (const std::string& name : marked_exports(base)) {
    const bool is_anew =
        std::any_of(out.begin(), out.end(), [&](const auto& entry) { return entry.first == name; });
    if (!is_anew && !contains(foreign, name)) marked.emplace_back(name, *base.raw(name));
  }
  out.emplace_back(kExportMark, export_mark(marked, base));
  return out;
}

std::vector<std::string> torch_unset(const Resolution& r, const Env& env) {
  const Variables exported = unmarked_torch_env(r, env);
  const bool is_in_an_agents_worker =
      r.launcher != "explicit" && std::any_of(r.other_sources.begin(), r.other_sources.end(),
                                              [](const OtherSource& other_source) {
                                                return other_source.source == "torchrun";
                                              });
  const auto is_foreign = [&](const std::string& name) {
    if (contains(r.ignored_exports, name)) return true;
    if (is_in_an_agents_worker && name.rfind("TORCHELASTIC_", 0) == 0) return is_plain(name);
    constexpr std::array<const char*, 8> kPlacement = {
        "RANK",       "WORLD_SIZE",       "LOCAL_RANK",  "LOCAL_WORLD_SIZE",
        "GROUP_RANK", "GROUP_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
    return r.launcher != "single" && contains(kPlacement, name);
  };
  std::vector<std::string> names;
  for (const auto& [name, value] : env.variables()) {
    const bool is_exported = std::any_of(
        exported.begin(), exported.end(),
        [&, named = std::string_view(name)](const auto& e) { return e.first == named; });
    if (!is_exported && is_foreign(name)) names.push_back(name);
  }
  return names;
}

std::string to_shell(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string out;
  for (const auto& [name, value] : variables)
    out.append("export ").append(name).append("=").append(shell_quote(value)).append("\n");
  return out;
}

}  // namespace hpcboot
