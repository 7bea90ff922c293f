#include "launchers.hpp"

// MVAPICH2's mpirun_rsh (its mpispawn, src/pm/mpirun in MVAPICH2) sets MV2_COMM_WORLD_RANK, _SIZE,
// _LOCAL_RANK and _LOCAL_SIZE, and MPIRUN_ID to the pid of mpirun_rsh. MVAPICH 3.0 and later starts
// through Hydra or srun and sets none of these.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"MV2_COMM_WORLD_RANK", kIdentity, kRequired},
    {"MV2_COMM_WORLD_SIZE", kSize, kRequired},
    {"MV2_COMM_WORLD_LOCAL_RANK", kIdentity, kRequired},
    {"MV2_COMM_WORLD_LOCAL_SIZE", kSize, kUsed},
    {"MV2_COMM_WORLD_*", kSize},
    {"MVP_COMM_WORLD_*", kIdentity},
    {"MPISPAWN_*", kHandle},
    {"MPIRUN_RANK", kIdentity},
    {"MPIRUN_NPROCS", kSize},
    {"MPIRUN_ID", kCompanion, kUsed},
    {"MPIRUN_HOST", kHandle},
    {"MPIRUN_PORT", kHandle},
    {"MV2_*", kSetting},
    {"MVP_*", kSetting},
    {"MPIRUN_*", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.hands_on_job_variables = false;
  return traits;
}();

Detection detect(const Env& env, const Facts& facts) {
  Detection detection = detect_any(env, {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
                                         "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"});
  if (detection.match == Match::present && facts.is_slurm_task == true) return inherited_by_srun();
  return detection;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "MV2_COMM_WORLD_RANK", "mpirun_rsh");
  need(facts, "world_size", facts.world_size, env, "MV2_COMM_WORLD_SIZE", "mpirun_rsh", 1);
  need(facts, "local_rank", facts.local_rank, env, "MV2_COMM_WORLD_LOCAL_RANK", "mpirun_rsh");
  take(facts, "local_size", facts.local_size, env, "MV2_COMM_WORLD_LOCAL_SIZE", 1);
  facts.identity = env.text("MPIRUN_ID").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kMvapich{"mvapich",
                            Level::mpi_launcher,
                            "its ranks may inherit the variables of the step that started it",
                            "mpirun_rsh",
                            "MVAPICH2, src/pm/mpirun/mpispawn.c",
                            kVariables,
                            "node index, nodes, hosts; version 3 and later use hydra",
                            kTraits,
                            detect,
                            read};

}  // namespace hpcboot::sources
