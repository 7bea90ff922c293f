#pragma once

#include <optional>
#include <vector>

#include "hpcboot/launch_source.hpp"
#include "nesting.hpp"

namespace hpcboot {

struct ExportedPod {
  Detection detection;
  Claim claim;
};

// RANK and LOCAL_RANK tell pods that a launcher inside has numbered its processes, but hpcboot may
// have exported them, for the pod itself: then the pod reports the same numbers without them.
// @return the first pod of `among` that does
std::optional<ExportedPod> exported_pod(const std::vector<const LaunchSource*>& among,
                                        const Env& env, const Facts& facts);

}  // namespace hpcboot
