#include "exported_pod.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "contains.hpp"
#include "core/launchers/launchers.hpp"
#include "export_mark.hpp"

namespace hpcboot {

std::optional<ExportedPod> exported_pod(const std::vector<const LaunchSource*>& among,
                                        const Env& env, const Facts& facts) {
  std::vector<std::string> exports = own_exports(env);
  if (!contains(exports, "RANK")) return std::nullopt;
  const Claim numbers = claim_of(sources::kGeneric, env, facts);
  const auto pod_without =
      [&](const std::vector<std::string>& hidden) -> std::optional<ExportedPod> {
    const Env rest = without(env, hidden);
    for (const LaunchSource* source : among) {
      if (source->level != Level::pod) continue;
      Detection detection = source->detect(rest, facts);
      if (detection.match != Match::present) continue;
      Claim claim = claim_of(*source, rest, facts);
      if (!claim.damage && agree(claim.facts, numbers.facts))
        return ExportedPod{std::move(detection), std::move(claim)};
    }
    return std::nullopt;
  };
  if (auto found = pod_without(exports)) return found;
  // Some operators set these themselves, to what hpcboot exports.
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
    exports.erase(std::remove(exports.begin(), exports.end(), name), exports.end());
  return pod_without(exports);
}

}  // namespace hpcboot
