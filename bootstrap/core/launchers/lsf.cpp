#include "launchers.hpp"

// jsrun sets for each task JSM_NAMESPACE_RANK, _SIZE, _LOCAL_RANK and _LOCAL_SIZE, and beside them
// Spectrum MPI's OMPI_COMM_WORLD_* and PMIX_*. blaunch sets LSF_PM_TASKID, from 1 on, and no number
// of tasks (PRRTE's ess/lsf reads it less one); daemons of MPI launchers are started so, and their
// ranks inherit it.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"JSM_NAMESPACE_RANK", kIdentity, kRequired},
    {"JSM_NAMESPACE_SIZE", kSize, kRequired},
    {"JSM_NAMESPACE_LOCAL_RANK", kIdentity, kRequired},
    {"JSM_NAMESPACE_LOCAL_SIZE", kSize, kUsed},
    {"LSF_PM_TASKID", kIdentity, kUsed},
    {"PMIX_NAMESPACE", kHandle, kUsed},
    {"JSM_NAMESPACE_*", kSize},
    {"JSM_JSRUN_*", kCompanion},
    {"JSM_*", kSetting},
};

Detection detect(const Env& env, const Facts&) {
  return detect_any(env, {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
                          "JSM_NAMESPACE_LOCAL_SIZE", "LSF_PM_TASKID"});
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  if (env.has("LSF_PM_TASKID") && !env.has("JSM_NAMESPACE_RANK") &&
      !env.has("JSM_NAMESPACE_SIZE")) {
    facts.rank = env.require_integer("LSF_PM_TASKID", "blaunch", 1) - 1;
    facts.variables["rank"] = "LSF_PM_TASKID";
    return facts;
  }
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
    "mpirun's and Flux's daemons are started by jsrun or blaunch",
    "jsrun",
    "https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=variables-environment-set-job-execution",
    kVariables,
    "node index, nodes, hosts; under blaunch (LSF_PM_TASKID) the size and the local rank",
    {},
    detect,
    read};

}  // namespace hpcboot::sources
