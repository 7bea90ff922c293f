#include "launchers.hpp"

// PMI_RANK and PMI_SIZE without Hydra's MPI_LOCALRANKID: some other PMI-1 or PMI-2 server. Cray's
// adds PMI_LOCAL_RANK and PMI_LOCAL_SIZE.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PMI_RANK", kIdentity, kRequired},
    {"PMI_SIZE", kSize, kRequired},
    {"PMI_LOCAL_RANK", kIdentity, kUsed},
    {"PMI_LOCAL_SIZE", kSize, kUsed},
    {"PMI_JOBID", kCompanion, kUsed},
    {"PMI_FD", kHandle, kUsed},
    {"PMI_SPAWNED", kCompanion},
    {"PMI_APPNUM", kCompanion},
    {"PMI_LOCAL_*", kIdentity},
    {"PMI_UNIVERSE_SIZE", kSize},
    {"PMI_SHARED_SECRET", kSecret},
    {"PMI_CONTROL_*", kHandle},
    {"PMI_CRAY_*", kCompanion},
    {"PMI2_*", kCompanion},
    {"PMI_*", kSetting},
};

Detection detect(const Env& env, const Facts&) {
  Detection detection = detect_any(env, {"PMI_RANK", "PMI_SIZE"});
  // Some systems set these in every shell: rank 0 of 1 does not prove a launch.
  if (detection.match == Match::present && env.text("PMI_RANK").value_or("0") == "0" &&
      env.text("PMI_SIZE") == "1") {
    return {Match::refused, "PMI_SIZE=1: a single process, which does not prove a launch"};
  }
  return detection;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "PMI_RANK", "a PMI launcher");
  need(facts, "world_size", facts.world_size, env, "PMI_SIZE", "a PMI launcher", 1);
  take(facts, "local_rank", facts.local_rank, env, "PMI_LOCAL_RANK");
  take(facts, "local_size", facts.local_size, env, "PMI_LOCAL_SIZE", 1);
  facts.identity = env.text("PMI_JOBID").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kPmi2{
    "pmi2",
    Level::library,
    "srun and Hydra set it along with more specific variables",
    "a PMI launcher",
    "https://flux-framework.readthedocs.io/projects/flux-rfc/en/latest/spec_13.html",
    kVariables,
    "local rank, nodes, hosts",
    {},
    detect,
    read};

}  // namespace hpcboot::sources
