#include "app/checkpoints.hpp"

#include "loop/checkpoint_interval.hpp"

namespace hpcboot::app {

options::Group checkpoint_options(train::TrainOptions& o) {
  using options::into;
  return {
      "Checkpoints",
      {{"checkpoint-every", into(o.checkpoint_every, "N[e|s|m]"),
        "Ne, Ns or Nm: save every N epochs (also plain N), steps or minutes; 0: only when the run "
        "is stopped"},
       {"keep-checkpoints", into(o.keep_checkpoints, "K"),
        "keep the K newest checkpoints, and that of the best epoch"},
       {"sharded-checkpoints", options::flag(o.sharded_checkpoints),
        "each rank writes a part of a checkpoint, in safetensors files with an index; all hosts "
        "must "
        "share the runs folder"},
       {"resume",
        into(o.resume, "RUN", options::Completes::run)
            .otherwise_is("none")
            .suggest({"auto", "best", "none"}),
        "resume a run: its folder or one of its checkpoints; auto: the newest unfinished run with "
        "the same options; best: like auto, but from best.safetensors"},
       {"time-limit", into(o.time_limit, "T"),
        "stop before T is over, with a checkpoint and exit code 46; T: seconds, 30m, 2h or "
        "[HH:]MM:SS from the start of the process"},
       {"deterministic", options::flag(o.deterministic),
        "make runs bitwise reproducible, even with 3 or more ranks; slower"}}};
}

void check_checkpoints(const train::TrainOptions& o) {
  train::parse_checkpoint_interval(o.checkpoint_every);
  if (!o.time_limit.empty()) train::parse_time_limit(o.time_limit);
  if (o.keep_checkpoints < 1) throw train::UsageError("--keep-checkpoints must be at least 1");
}

}  // namespace hpcboot::app
