#include "hpcboot/sanitize.hpp"

#include <algorithm>
#include <string_view>

namespace hpcboot {
namespace {

// A name that ends with * stands for all that begin so.
using Pattern = std::string_view;

// Of the launch: who this process is in it, and how it reaches its launcher.
constexpr Pattern kLaunch[] = {
    // hpcboot's own identity; HPCBOOT_METHODS, _INTERFACE and _MASTER_* are the user's choice
    "HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK", "HPCBOOT_LOCAL_SIZE",
    "HPCBOOT_NODE_RANK", "HPCBOOT_NUM_NODES",
    // torchrun and whoever speaks its names; the address and port are the outer launch's
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK",
    "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
    "TORCHELASTIC_*",
    // Open MPI 4's orted and 5's PRRTE for their ranks; other OMPI_MCA_* are settings
    "OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE", "OMPI_APP_CTX_NUM_PROCS", "OMPI_NUM_APP_CTX",
    "OMPI_FIRST_RANKS", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_FILE_LOCATION", "OMPI_MCA_ess",
    "OMPI_MCA_ess_base_*", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_orte_app_num",
    "OMPI_MCA_orte_bound_at_launch", "OMPI_MCA_orte_ess_*", "OMPI_MCA_orte_hnp_uri",
    "OMPI_MCA_orte_jobfam_session_dir", "OMPI_MCA_orte_launch", "OMPI_MCA_orte_local_daemon_uri",
    "OMPI_MCA_orte_node_regex", "OMPI_MCA_orte_num_nodes", "OMPI_MCA_orte_parent_uri",
    "OMPI_MCA_orte_precondition_transports", "OMPI_MCA_orte_rankfile",
    "OMPI_MCA_orte_top_session_dir", "OMPI_MCA_rmaps_rank_file_path",
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint", "PRTE_LAUNCHED", "PRTE_MCA_ess_*", "PRTE_MCA_prte_hnp_uri",
    "PRTE_MCA_prte_ess_*",
    // PMIx; PMIX_MCA_* and PMIX_INSTALL_PREFIX are settings
    "PMIX_NAMESPACE", "PMIX_RANK", "PMIX_ID", "PMIX_HOSTNAME", "PMIX_VERSION", "PMIX_SERVER_*",
    "PMIX_DSTORE_*", "PMIX_GDS_MODULE", "PMIX_BFROP_BUFFER_TYPE", "PMIX_SECURITY_MODE",
    "PMIX_SYSTEM_TMPDIR", "PMIX_PTL_MODULE", "PMIX_PARENT_ID", "PMIX_REINCARNATION",
    "PMIX_KEEPALIVE_PIPE", "PMIX_LAUNCHER_*",
    // PMI 1 and 2; PMI_MMAP_SYNC_WAIT_TIME and PMI_NO_FORK are settings
    "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_ID", "PMI_PORT", "PMI_JOBID", "PMI_SPAWNED",
    "PMI_APPNUM", "PMI_LOCAL_*", "PMI_UNIVERSE_SIZE", "PMI_SHARED_SECRET", "PMI_CONTROL_*",
    "PMI_CRAY_*", "PMI2_*",
    // Hydra, MVAPICH
    "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "HYDI_CONTROL_FD",
    "HYDRA_PROXY_*", "MV2_COMM_WORLD_*", "MVP_COMM_WORLD_*", "MPISPAWN_*", "MPIRUN_RANK",
    "MPIRUN_NPROCS", "MPIRUN_ID", "MPIRUN_HOST", "MPIRUN_PORT",
    // PALS; PALS_CPU_BIND and PALS_PMI are mpiexec's options
    "PALS_APID", "PALS_APINFO", "PALS_DEPTH", "PALS_FD", "PALS_LOCAL_*", "PALS_NODEID",
    "PALS_RANKID", "PALS_SPOOL_DIR", "PALS_STARTUP_*",
    // Flux: its job id stays, as the allocation's
    "FLUX_TASK_*", "FLUX_JOB_SIZE", "FLUX_JOB_NNODES", "FLUX_KVS_NAMESPACE",
    // jsrun, blaunch
    "JSM_NAMESPACE_*", "JSM_JSRUN_*", "LSF_PM_TASKID",
    // a Slurm step, and those of its options that the next srun would take for its own
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID",
    "SLURM_STEPID", "SLURM_STEP_*", "SLURM_SRUN_COMM_*", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_PMIX_*",
    "SLURM_PMIXP_*", "SLURM_MPI_TYPE", "SLURM_CPU_BIND", "SLURM_CPU_BIND_*", "SLURM_MEM_BIND",
    "SLURM_MEM_BIND_*", "SLURM_DISTRIBUTION", "SLURM_ARBITRARY_NODELIST",
    // a pod's place among its peers
    "JOB_COMPLETION_INDEX", "PET_*", "SM_HOSTS", "SM_CURRENT_HOST"};

// Of the job that the launch runs in. SLURM_CONF, PBS_CONF_FILE, PBS_O_* (the submitter's shell),
// LSF_ENVDIR and SGE_ROOT say where the scheduler is: they stay, so that its commands work.
constexpr Pattern kAllocation[] = {
    "SLURM_*",   "SLURMD_*",          "PBS_*",      "LSB_*",     "LS_JOBPID",
    "LS_SUBCWD", "CSM_ALLOCATION_ID", "SGE_TASK_*", "SGE_O_*",   "SGE_JOB_SPOOL_DIR",
    "PE",        "PE_HOSTFILE",       "NSLOTS",     "NHOSTS",    "NQUEUES",
    "JOB_ID",    "JOB_NAME",          "QUEUE",      "RESTARTED", "COBALT_*",
    "FLUX_*",    "ENVIRONMENT"};
constexpr Pattern kWhereTheSchedulerIs[] = {"SLURM_CONF", "SLURM_ROOT",    "SLURM_TIME_FORMAT",
                                            "PBS_O_*",    "PBS_CONF_FILE", "PBS_EXEC",
                                            "PBS_HOME",   "PBS_SERVER",    "FLUX_EXEC_PATH"};

template <std::size_t N>
bool matches(std::string_view name, const Pattern (&patterns)[N]) {
  return std::any_of(std::begin(patterns), std::end(patterns), [&](Pattern pattern) {
    if (pattern.back() != '*') return name == pattern;
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  });
}

}  // namespace

std::vector<std::string> variables_to_unset(const Env& env, Inherit inherit) {
  std::vector<std::string> names;
  for (const auto& [name, value] : env.variables()) {
    const bool of_the_job = inherit == Inherit::nothing && matches(name, kAllocation) &&
                            !matches(name, kWhereTheSchedulerIs);
    if (of_the_job || matches(name, kLaunch)) names.push_back(name);
  }
  return names;
}

}  // namespace hpcboot
