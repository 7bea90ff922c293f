#include "launchers.hpp"

// Open MPI's mpirun (4: orted; 5: PRRTE) sets OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK and
// _LOCAL_SIZE. OMPI_COMM_WORLD_NODE_RANK is not a node index (it numbers processes on this node
// across all jobs), and OMPI_UNIVERSE_SIZE counts slots; neither is read. OMPI_MCA_* alone proves
// nothing: Slurm sets OMPI_MCA_plm_slurm_args in every batch step.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"OMPI_COMM_WORLD_RANK", kIdentity, kRequired},
    {"OMPI_COMM_WORLD_SIZE", kSize, kRequired},
    {"OMPI_COMM_WORLD_LOCAL_RANK", kIdentity, kRequired},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", kSize, kUsed},
    {"PMIX_NAMESPACE", kHandle, kUsed},
    {"PMIX_RANK", kIdentity, kUsed},
    {"OMPI_MCA_rmaps_base_mapping_policy", kSetting, kUsed},
    {"OMPI_MCA_orte_rankfile", kCompanion, kUsed},
    {"OMPI_MCA_rmaps_rank_file_path", kCompanion, kUsed},
    {"OMPI_COMM_WORLD_NODE_RANK", kIdentity},
    {"OMPI_COMM_WORLD_*", kSize},
    {"OMPI_WORLD_*", kSize},
    {"OMPI_UNIVERSE_SIZE", kSize},
    {"OMPI_APP_CTX_NUM_PROCS", kSize},
    {"OMPI_NUM_APP_CTX", kSize},
    {"OMPI_FIRST_RANKS", kCompanion},
    {"OMPI_ARGV", kSecret},
    {"OMPI_COMMAND", kSecret},
    {"OMPI_MCA_orte_precondition_transports", kSecret},
    {"OMPI_FILE_LOCATION", kHandle},
    {"OMPI_MCA_ess", kHandle},
    {"OMPI_MCA_ess_base_*", kHandle},
    {"OMPI_MCA_pmix", kHandle},
    {"OMPI_MCA_initial_wdir", kCompanion},
    {"OMPI_MCA_num_procs", kSize},
    {"OMPI_MCA_orte_app_num", kCompanion},
    {"OMPI_MCA_orte_bound_at_launch", kCompanion},
    {"OMPI_MCA_orte_ess_*", kHandle},
    {"OMPI_MCA_orte_hnp_uri", kHandle},
    {"OMPI_MCA_orte_jobfam_session_dir", kHandle},
    {"OMPI_MCA_orte_launch", kCompanion},
    {"OMPI_MCA_orte_local_daemon_uri", kHandle},
    {"OMPI_MCA_orte_node_regex", kCompanion},
    {"OMPI_MCA_orte_num_nodes", kSize},
    {"OMPI_MCA_orte_parent_uri", kHandle},
    {"OMPI_MCA_orte_top_session_dir", kHandle},
    {"OMPI_MCA_shmem_RUNTIME_QUERY_hint", kCompanion},
    {"PRTE_LAUNCHED", kCompanion},
    {"PRTE_MCA_ess_*", kHandle},
    {"PRTE_MCA_prte_hnp_uri", kHandle},
    {"PRTE_MCA_prte_ess_*", kHandle},
    {"OMPI_*", kSetting},
    {"OPAL_*", kSetting},
    {"ORTE_*", kSetting},
    {"PRTE_*", kSetting},
    {"PRRTE_*", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.hands_on_job_variables = false;
  return traits;
}();

Detection detect(const Env& env, const Facts& facts) {
  Detection detection =
      detect_any(env, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                       "OMPI_COMM_WORLD_LOCAL_SIZE"});
  // A program started by mpirun may itself call srun --mpi=pmix: the namespace is then srun's.
  const auto name_space = env.text("PMIX_NAMESPACE");
  if (detection.match == Match::present && name_space && name_space->rfind("slurm.pmix.", 0) == 0) {
    return {Match::refused, "OMPI_COMM_WORLD_* are inherited: PMIX_NAMESPACE=" +
                                std::string(*name_space) + " shows that srun started this process"};
  }
  if (detection.match == Match::present && facts.is_slurm_task == true) return inherited_by_srun();
  // If they differ, mpirun was started inside jsrun's task.
  if (detection.match == Match::present && env.has("JSM_NAMESPACE_RANK") &&
      env.text("OMPI_COMM_WORLD_RANK") == env.text("JSM_NAMESPACE_RANK") &&
      env.text("OMPI_COMM_WORLD_SIZE") == env.text("JSM_NAMESPACE_SIZE")) {
    return {Match::refused,
            "jsrun sets OMPI_COMM_WORLD_* for Spectrum MPI, in addition to its own"};
  }
  return detection;
}

// `mpirun --rankfile F` and `--map-by seq` set these for their ranks: rank order then does not
// imply host order.
bool ranks_lie_in_any_order(const Env& env) {
  const std::string policy(env.text("OMPI_MCA_rmaps_base_mapping_policy").value_or(""));
  return env.has("OMPI_MCA_orte_rankfile") || env.has("OMPI_MCA_rmaps_rank_file_path") ||
         policy.rfind("seq", 0) == 0 || policy.rfind("rankfile", 0) == 0;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "OMPI_COMM_WORLD_RANK", "mpirun");
  need(facts, "world_size", facts.world_size, env, "OMPI_COMM_WORLD_SIZE", "mpirun", 1);
  need(facts, "local_rank", facts.local_rank, env, "OMPI_COMM_WORLD_LOCAL_RANK", "mpirun");
  take(facts, "local_size", facts.local_size, env, "OMPI_COMM_WORLD_LOCAL_SIZE", 1);
  facts.any_order = ranks_lie_in_any_order(env);
  facts.identity = env.text("PMIX_NAMESPACE").value_or("");
  return facts;
}

// mpirun serves PMIx to its ranks; under another launcher's PMIx, or without PMIx, the variables
// are inherited. Hydra serves no PMIx, so its ranks inherit PMIx variables along with mpirun's.
std::optional<bool> is_live(const Env& env, const Facts& facts) {
  if (!env.has("PMIX_NAMESPACE")) return std::nullopt;
  if (env.text("PMIX_RANK") != env.text("OMPI_COMM_WORLD_RANK")) return false;
  if (facts.pmi_fd_is_open_socket == true) return std::nullopt;
  return true;
}

}  // namespace

const LaunchSource kOpenmpi{
    "openmpi",
    Level::mpi_launcher,
    "under Slurm its ranks inherit the SLURM_PROCID of the daemon that started them",
    "mpirun",
    "https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html",
    kVariables,
    "node index, nodes, hosts (OMPI_COMM_WORLD_NODE_RANK is none of them)",
    kTraits,
    detect,
    read,
    is_live};

}  // namespace hpcboot::sources
