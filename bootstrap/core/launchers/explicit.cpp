#include "hpcboot/error.hpp"
#include "launchers.hpp"

// HPCBOOT_RANK, _WORLD_SIZE, _LOCAL_RANK, _LOCAL_SIZE, _NODE_RANK, _NUM_NODES: set by the user or a
// wrapper script. HPCBOOT_INTERFACE, _METHODS and _MASTER_* are settings, not identity.
// HPCBOOT_EXPORTED marks what hpcboot itself exported; `hpcboot run` passes HPCBOOT_RUN_* to its
// ranks.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"HPCBOOT_RANK", kIdentity, kRequired},
    {"HPCBOOT_WORLD_SIZE", kSize, kRequired},
    {"HPCBOOT_LOCAL_RANK", kIdentity, kRequired},
    {"HPCBOOT_LOCAL_SIZE", kSize, kUsed},
    {"HPCBOOT_NODE_RANK", kIdentity, kUsed},
    {"HPCBOOT_NUM_NODES", kSize, kUsed},
    {"HPCBOOT_EXPORTED", kCompanion, kUsed},
    {"HPCBOOT_RUN_SECRET", kSecret},
    {"HPCBOOT_RUN_*", kCompanion},
    {"HPCBOOT_*", kSetting},
};

Detection detect(const Env& env, const Facts&) {
  return detect_any(env, {"HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK",
                          "HPCBOOT_LOCAL_SIZE", "HPCBOOT_NODE_RANK", "HPCBOOT_NUM_NODES"});
}

LaunchFacts read(const Env& env, const Facts&) {
  static constexpr const char* kSetter = "the launcher or script";
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "HPCBOOT_RANK", kSetter);
  need(facts, "world_size", facts.world_size, env, "HPCBOOT_WORLD_SIZE", kSetter, 1);
  take(facts, "local_size", facts.local_size, env, "HPCBOOT_LOCAL_SIZE", 1);
  take(facts, "node_rank", facts.node_rank, env, "HPCBOOT_NODE_RANK");
  take(facts, "num_nodes", facts.num_nodes, env, "HPCBOOT_NUM_NODES", 1);
  if (!take(facts, "local_rank", facts.local_rank, env, "HPCBOOT_LOCAL_RANK") &&
      *facts.world_size > 1 && facts.num_nodes.value_or(0) != 1 &&
      facts.local_size != facts.world_size) {
    env.require_integer("HPCBOOT_LOCAL_RANK", kSetter);
  }
  return facts;
}

}  // namespace

const LaunchSource kExplicit{"explicit",
                             Level::explicit_settings,
                             "a user who sets HPCBOOT_RANK means it",
                             "the script that sets HPCBOOT_*",
                             "bootstrap/README.md",
                             kVariables,
                             "hosts",
                             {},
                             detect,
                             read};

}  // namespace hpcboot::sources
