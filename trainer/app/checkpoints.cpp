#include "app/checkpoints.hpp"

#include "loop/checkpoint_interval.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

po::options_description checkpoint_options(train::TrainOptions& o) {
  const auto value = [](auto& slot, const char* name) {
    return po::value(&slot)->default_value(slot)->value_name(name);
  };
  po::options_description options("Checkpoints");
  auto add = options.add_options();
  add("checkpoint-every", value(o.checkpoint_every, "N[e|s|m]"),
      "save every N epochs, steps or minutes; 0: only where the run is stopped");
  add("keep-checkpoints", value(o.keep_checkpoints, "K"),
      "the newest ones that stay, beside that of the best epoch");
  add("resume", po::value(&o.resume)->value_name("RUN"),
      "go on with a run: its folder or one of its checkpoints; auto: the newest unfinished one of "
      "the same options; best: that one from its best.safetensors [none]");
  add("time-limit", po::value(&o.time_limit)->value_name("T"),
      "stop in time, with a checkpoint and exit code 46: seconds, 30m, 2h, [HH:]MM:SS from the "
      "start of the process");
  add("deterministic", po::bool_switch(&o.deterministic),
      "equal runs are equal bit for bit, also on 3 and more ranks; slower");
  return options;
}

void check_checkpoints(const train::TrainOptions& o) {
  train::parse_checkpoint_interval(o.checkpoint_every);
  if (!o.time_limit.empty()) train::parse_time_limit(o.time_limit);
  if (o.keep_checkpoints < 1) throw train::UsageError("--keep-checkpoints has to be at least 1");
}

}  // namespace hpcboot::app
