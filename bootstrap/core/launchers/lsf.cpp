#include "launchers.hpp"

// jsrun sets for each task JSM_NAMESPACE_RANK, _SIZE, _LOCAL_RANK and _LOCAL_SIZE, and also
// Spectrum MPI's OMPI_COMM_WORLD_* and PMIX_*. blaunch is a separate launcher: blaunch.toml.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"JSM_NAMESPACE_RANK", kIdentity, kRequired},
    {"JSM_NAMESPACE_SIZE", kSize, kRequired},
    {"JSM_NAMESPACE_LOCAL_RANK", kIdentity, kRequired},
    {"JSM_NAMESPACE_LOCAL_SIZE", kSize, kUsed},
    {"PMIX_NAMESPACE", kHandle, kUsed},
    {"JSM_NAMESPACE_*", kSize},
    {"JSM_JSRUN_*", kCompanion},
    {"JSM_*", kSetting},
};

Detection detect(const Env& env, const Facts&) {
  return detect_any(env, {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
                          "JSM_NAMESPACE_LOCAL_SIZE"});
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "JSM_NAMESPACE_RANK", "jsrun");
  need(facts, "world_size", facts.world_size, env, "JSM_NAMESPACE_SIZE", "jsrun", 1);
  need(facts, "local_rank", facts.local_rank, env, "JSM_NAMESPACE_LOCAL_RANK", "jsrun");
  take(facts, "local_size", facts.local_size, env, "JSM_NAMESPACE_LOCAL_SIZE", 1);
  facts.identity = env.text("PMIX_NAMESPACE").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kLsf{
    "lsf",
    Level::scheduler_step,
    "jsrun starts the daemons of mpirun and Flux",
    "jsrun",
    "https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=variables-environment-set-job-execution",
    kVariables,
    "node index, nodes, hosts",
    {},
    detect,
    read};

}  // namespace hpcboot::sources
