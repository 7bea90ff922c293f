#include "hpcboot/launch_source.hpp"

#include <algorithm>

#include "core/launchers/launchers.hpp"

namespace hpcboot {

const std::vector<const LaunchSource*>& launch_sources() {
  // Innermost first. Each source says beside its name why it stands here (`hpcboot show
  // --explain`). The table in bootstrap/README.md is compared with this one by a test.
  static const std::vector<const LaunchSource*> table = {
      &sources::kExplicit, &sources::kTorchrun,   &sources::kOpenmpi,   &sources::kMvapich,
      &sources::kHydra,    &sources::kPals,       &sources::kFlux,      &sources::kSlurm,
      &sources::kLsf,      &sources::kKubernetes, &sources::kSagemaker, &sources::kGeneric,
      &sources::kPmix,     &sources::kPmi2,
  };
  return table;
}

LauncherTraits traits_of(std::string_view launcher) noexcept {
  const auto& all = launch_sources();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const LaunchSource* source) { return source->name == launcher; });
  return found == all.end() ? LauncherTraits{} : (*found)->traits;
}

Detection LaunchSource::detect(const Env& env, const Facts& facts) const {
  return detect_in(env, facts);
}

LaunchFacts LaunchSource::read(const Env& env, const Facts& facts) const {
  return read_from(env, facts);
}

std::optional<bool> LaunchSource::is_live(const Env& env, const Facts& facts) const {
  return is_live_in == nullptr ? std::nullopt : is_live_in(env, facts);
}

}  // namespace hpcboot
