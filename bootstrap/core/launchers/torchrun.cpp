#include "launchers.hpp"

// torchrun's agent sets for each worker: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK
// (the agent, that is, the node), GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID
// and TORCHELASTIC_USE_AGENT_STORE. RANK alone does not prove torchrun: container hooks also set
// it. Ranks need not follow host order and may change after a restart.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"TORCHELASTIC_RUN_ID", kCompanion, kRequired},
    {"RANK", kIdentity, kRequired},
    {"WORLD_SIZE", kSize, kRequired},
    {"LOCAL_RANK", kIdentity, kRequired},
    {"MASTER_ADDR", kCompanion, kRequired},
    {"MASTER_PORT", kCompanion, kRequired},
    {"LOCAL_WORLD_SIZE", kSize, kUsed},
    {"GROUP_RANK", kIdentity, kUsed},
    {"GROUP_WORLD_SIZE", kSize, kUsed},
    {"TORCHELASTIC_USE_AGENT_STORE", kCompanion, kUsed},
    {"TORCHELASTIC_RESTART_COUNT", kCompanion, kUsed},
    {"TORCHELASTIC_MAX_RESTARTS", kCompanion, kUsed},
    {"ROLE_RANK", kIdentity},
    {"ROLE_NAME", kCompanion},
    {"ROLE_WORLD_SIZE", kSize},
    {"TORCHELASTIC_*", kCompanion},
    {"TORCH_NCCL_*", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.orders_ranks_by_host = false;
  traits.serves_a_store = true;
  return traits;
}();

Detection detect(const Env& env, const Facts&) {
  // The user chooses the id, which may be empty.
  return detect_any(
      env, {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS"});
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "RANK", "torchrun");
  need(facts, "world_size", facts.world_size, env, "WORLD_SIZE", "torchrun", 1);
  need(facts, "local_rank", facts.local_rank, env, "LOCAL_RANK", "torchrun");
  take(facts, "local_size", facts.local_size, env, "LOCAL_WORLD_SIZE", 1);
  take(facts, "node_rank", facts.node_rank, env, "GROUP_RANK");
  take(facts, "num_nodes", facts.num_nodes, env, "GROUP_WORLD_SIZE", 1);
  facts.identity = env.text("TORCHELASTIC_RUN_ID").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kTorchrun{"torchrun",
                             Level::elastic_agent,
                             "srun or mpirun starts its agent, which starts the workers",
                             "torchrun",
                             "https://docs.pytorch.org/docs/stable/elastic/run.html",
                             kVariables,
                             "hosts; ranks need not follow their order",
                             kTraits,
                             detect,
                             read};

}  // namespace hpcboot::sources
