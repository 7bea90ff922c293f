#pragma once

#include "job_script.hpp"
#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// The resources that a job requests from the scheduler.
struct JobShape {
  int nodes = 1;
  int ranks_per_node = 1;
  int gpus = 0;       ///< per node
  int cores = 1;      ///< per node, divided evenly among the ranks
  int memory_gb = 0;  ///< per node; 0: not requested
  int seconds = 0;    ///< walltime

  /// Grid Engine slots per node: one per GPU, or one per core without GPUs. Its resource requests
  /// are per slot.
  int slots() const { return gpus > 0 ? gpus : cores; }
};

/// @throws Error{malformed_value} if the request does not fit the job or the site
JobShape shape_of(const SiteProfile& site, const ScriptRequest& request);

}  // namespace hpcboot::jobscripts
