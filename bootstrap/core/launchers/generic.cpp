#include "hpcboot/allocation.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"
#include "slurm_step.hpp"

// RANK, WORLD_SIZE, LOCAL_RANK as torch.distributed reads them, set by whoever started this
// process: a container hook (enroot), an operator, a script. Optional: LOCAL_WORLD_SIZE,
// GROUP_RANK, GROUP_WORLD_SIZE. Ray Train (python/ray/train/torch/config.py), Lightning and
// Composer set NODE_RANK instead of GROUP_RANK. Scripts also export it for torchrun, and it remains
// set afterwards: it counts only if the sizes agree with it.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"RANK", kIdentity, kRequired},       {"WORLD_SIZE", kSize, kRequired},
    {"LOCAL_RANK", kIdentity, kRequired}, {"LOCAL_WORLD_SIZE", kSize, kUsed},
    {"GROUP_RANK", kIdentity, kUsed},     {"GROUP_WORLD_SIZE", kSize, kUsed},
    {"MASTER_ADDR", kCompanion, kUsed},   {"MASTER_PORT", kCompanion, kUsed},
    {"NODE_RANK", kIdentity, kUsed},
};

bool is_in_a_job(const Env& env) {
  AllocationOptions options;
  options.read_files = false;
  try {
    return read_allocation(env, options).has_value();
  } catch (const Error&) {
    return true;  // malformed, which resolve() reports
  }
}

// enroot's hook 50-slurm-pytorch.sh copies the numbers of a Slurm task into its container, and also
// those of a batch script or an interactive shell, which are no tasks. Its MASTER_PORT identifies
// it.
bool has_numbers_of_batch_script(const Env& env) {
  const auto job = parse_whole_number(env.text("SLURM_JOB_ID").value_or(""));
  return job && !in_slurm_step(env) &&
         env.text("MASTER_PORT") == std::to_string(*job % 4536 + 61000) &&
         env.text("RANK") == env.text("SLURM_PROCID") &&
         env.text("LOCAL_RANK") == env.text("SLURM_LOCALID") &&
         env.text("WORLD_SIZE") == env.text("SLURM_NTASKS");
}

Detection detect(const Env& env, const Facts&) {
  Detection detection = detect_any(env, {"RANK", "LOCAL_RANK"});
  if (detection.match == Match::present && has_numbers_of_batch_script(env)) {
    return {Match::refused,
            "enroot's hook 50-slurm-pytorch.sh copied them: this is a batch script or an "
            "interactive shell in a container, not a task"};
  }
  const auto world_size = env.text("WORLD_SIZE");
  if (detection.match == Match::present || !world_size || *world_size == "1") return detection;
  // A batch script may export WORLD_SIZE for the tasks that it will start; elsewhere RANK has been
  // lost.
  if (is_in_a_job(env)) {
    return {Match::refused, "WORLD_SIZE without RANK in a job: set for tasks not started yet"};
  }
  return {Match::present, "WORLD_SIZE is set"};
}

// Requires a block distribution with equally many ranks per host.
void take_node_rank(LaunchFacts& facts, const Env& env) {
  if (facts.node_rank || !facts.local_rank || !facts.local_size) return;
  const auto node_rank = env.integer("NODE_RANK");
  if (!node_rank || *facts.world_size % *facts.local_size != 0) return;
  const long rank = static_cast<long>(*node_rank) * *facts.local_size + *facts.local_rank;
  if (rank != *facts.rank) return;
  facts.node_rank = node_rank;
  facts.variables["node_rank"] = "NODE_RANK";
  if (facts.num_nodes) return;
  facts.num_nodes = *facts.world_size / *facts.local_size;
  facts.variables["num_nodes"] = "LOCAL_WORLD_SIZE";
}

LaunchFacts read(const Env& env, const Facts&) {
  static constexpr const char* kSetter = "the launcher or script";
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "RANK", kSetter);
  need(facts, "world_size", facts.world_size, env, "WORLD_SIZE", kSetter, 1);
  take(facts, "local_size", facts.local_size, env, "LOCAL_WORLD_SIZE", 1);
  take(facts, "node_rank", facts.node_rank, env, "GROUP_RANK");
  take(facts, "num_nodes", facts.num_nodes, env, "GROUP_WORLD_SIZE", 1);
  if (!take(facts, "local_rank", facts.local_rank, env, "LOCAL_RANK") && *facts.world_size > 1) {
    // RANK may number pods or processes; without LOCAL_RANK this process's device cannot be
    // determined.
    env.require_integer("LOCAL_RANK", kSetter);
  }
  take_node_rank(facts, env);
  return facts;
}

}  // namespace

const LaunchSource kGeneric{
    "generic",
    Level::generic,
    "any script may set these; a launcher's own variables are more specific",
    "the launcher or script that sets RANK and WORLD_SIZE",
    "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
    kVariables,
    "who set them, hosts",
    {},
    detect,
    read};

}  // namespace hpcboot::sources
