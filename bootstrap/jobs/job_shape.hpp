#pragma once

#include "job_script.hpp"
#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// What a job asks the scheduler for.
struct JobShape {
  int nodes = 1;
  int ranks_per_node = 1;
  int gpus = 0;       ///< of each node
  int cores = 1;      ///< of each node, as many for each rank
  int memory_gb = 0;  ///< of each node; 0: not asked for
  int seconds = 0;    ///< walltime

  /// Of Grid Engine on each node, whose requests count for each slot: one for each GPU, else for
  /// each core.
  int slots() const { return gpus > 0 ? gpus : cores; }
};

/// @throws Error{malformed_value} if the request fits neither the job nor the site
JobShape shape_of(const SiteProfile& site, const ScriptRequest& request);

}  // namespace hpcboot::jobscripts
