#pragma once

#include <vector>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/resolve.hpp"

// Which launcher placed this process? The first step of resolve().
namespace hpcboot {

struct Selection {
  const LaunchSource* source = nullptr;  // null: no launcher, a single process
  LaunchFacts facts;
  std::vector<OtherSource> other_sources;
  std::vector<Attempt> attempts;
  // MASTER_ADDR and MASTER_PORT belong to an outer elastic agent, which serves its store there.
  bool endpoint_is_foreign = false;
};

// @throws Error{unknown_method, ambiguous_environment} and what the chosen source's read() throws.
Selection select_source(const Env& env, const Facts& facts);

}  // namespace hpcboot
