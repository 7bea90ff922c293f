#pragma once

#include <string>
#include <vector>

#include "job.hpp"
#include "job_script.hpp"

namespace hpcboot::jobscripts {

/// How a job script starts its programs with `hpcboot run`.
struct RunLines {
  /// The options of `run` for a launch with all ranks, as bash words: " -n 1 --requeue".
  std::string options;
  /// For the job `compare`: trainer mode and options of `run`, such as "ddp --nodes 1", in the
  /// order in which they run. Otherwise empty.
  std::vector<std::string> attempts;
  /// The trainer mode; empty for a user program, and for `compare`.
  std::string mode;
};

/// The resources that the job requests per node.
struct LaunchShare {
  int ranks_per_node = 1;
  int cores_per_rank = 1;
  bool has_gpus = false;
};

/// @throws Error{malformed_value} if the launcher does not work with the site's scheduler
RunLines run_lines(const SiteProfile& site, const Job& job, const ScriptRequest& request,
                   const LaunchShare& share);

}  // namespace hpcboot::jobscripts
