#pragma once

#include <vector>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/resolve.hpp"

// Which launcher placed this process? The first step of resolve().
namespace hpcboot {

struct Selection {
  const LaunchSource* source = nullptr;  // null: none did, the process is single
  LaunchFacts facts;
  std::vector<OtherSource> other_sources;
  std::vector<Attempt> attempts;
  // MASTER_ADDR and MASTER_PORT are those of an elastic agent further out: its store is there.
  bool endpoint_is_foreign = false;
};

// @throws Error{unknown_method, ambiguous_environment} and what the chosen source's read() throws.
Selection select_source(const Env& env, const Facts& facts);

}  // namespace hpcboot
