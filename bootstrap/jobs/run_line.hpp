#pragma once

#include <string>
#include <vector>

#include "job.hpp"
#include "job_script.hpp"

namespace hpcboot::jobscripts {

/// What a job's script starts by `hpcboot run`.
struct RunLines {
  /// The options of `run`, in bash's words: " -n 1 --requeue". Those of a job's whole launch.
  std::string options;
  /// For the job `compare`: "ddp --nodes 1", a trainer's mode and options of `run`, in the order in
  /// which they train. Else empty.
  std::vector<std::string> attempts;
  /// The trainer's mode; empty for a program of one's own, and for `compare`.
  std::string mode;
};

/// What the job asks for on each node.
struct LaunchShare {
  int ranks_per_node = 1;
  int cores_per_rank = 1;
  bool has_gpus = false;
};

/// @throws Error{malformed_value} if the launcher does not go with the site's scheduler
RunLines run_lines(const SiteProfile& site, const Job& job, const ScriptRequest& request,
                   const LaunchShare& share);

}  // namespace hpcboot::jobscripts
