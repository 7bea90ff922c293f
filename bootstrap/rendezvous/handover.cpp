#include "handover.hpp"

#include <algorithm>

#include "core/contains.hpp"
#include "core/export_mark.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr const char* kSetBy = "hpcboot run";
constexpr std::size_t kSecretDigits = 64;

// Its value is never shown.
void check_secret(const std::string& secret) {
  if (secret.size() == kSecretDigits &&
      secret.find_first_not_of("0123456789abcdef") == std::string::npos)
    return;
  throw Error(ErrorCode::malformed_value, std::string(kHandoverSecret) + " is malformed",
              "64 hexadecimal digits, as set by hpcboot run", "do not set HPCBOOT_RUN_* yourself");
}

}  // namespace

std::map<std::string, std::string> Handover::variables() const {
  std::string list;
  for (const std::string& host : hosts) list += (list.empty() ? "" : ",") + host;
  return {{kHandoverId, launch_id},
          {kHandoverSize, std::to_string(world_size)},
          {kHandoverSecret, secret},
          {kHandoverHosts, list}};
}

std::optional<Handover> handover_in(const Env& env) {
  const auto id = env.text(kHandoverId);
  if (!id) return std::nullopt;
  Handover handover;
  handover.launch_id = *id;
  handover.world_size = env.require_integer(kHandoverSize, kSetBy, 1);
  handover.secret = env.require_text(kHandoverSecret, kSetBy);
  check_secret(handover.secret);
  // Not a Slurm host list, which cannot contain IPv6 addresses: separated by commas only.
  std::string_view rest = env.require_text(kHandoverHosts, kSetBy);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) handover.hosts.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return handover;
}

Env with_marked_handover(const Env& env) {
  const auto handover = handover_in(env);
  if (!handover) return env;
  std::map<std::string, std::string> variables(env.variables().begin(), env.variables().end());
  variables[kExportMark] = export_mark({{kHandoverId, handover->launch_id}}, env);
  return Env(std::move(variables));
}

std::optional<Handover> handover_for(const Env& env, int world_size) {
  if (!env.has(kHandoverId) || !contains(marked_exports(env), kHandoverId) ||
      contains(foreign_exports(env), kHandoverId))
    return std::nullopt;
  auto handover = handover_in(env);
  if (handover->world_size != world_size) return std::nullopt;
  return handover;
}

}  // namespace hpcboot::rendezvous
