#include "launchers.hpp"
#include "slurm_step.hpp"

// MPICH's and Intel MPI's mpiexec (Hydra) set PMI_RANK, PMI_SIZE, PMI_FD and, unlike Slurm's PMI2,
// MPI_LOCALRANKID and MPI_LOCALNRANKS (MPICH, src/pm/hydra/proxy/pmip_cb.c), counted per proxy: a
// host listed twice in the host file, not adjacently, has two. With -pmi-port it sets PMI_PORT and
// PMI_ID instead of PMI_RANK, and no size. Intel MPI's I_MPI_* are settings.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PMI_RANK", kIdentity, kRequired},
    {"PMI_SIZE", kSize, kRequired},
    {"MPI_LOCALRANKID", kIdentity, kRequired},
    {"MPI_LOCALNRANKS", kSize, kUsed},
    {"PMI_FD", kHandle, kUsed},
    {"PMI_PORT", kHandle, kUsed},
    {"PMI_ID", kIdentity},
    {"PMI_HOSTNAME", kCompanion},
    {"PMI_SPAWNED", kCompanion},
    {"MPIR_CVAR_CH3_INTERFACE_HOSTNAME", kCompanion},
    {"HYDI_CONTROL_FD", kHandle},
    {"HYDRA_PROXY_*", kHandle},
    {"MPIR_CVAR_*", kSetting},
    {"HYDRA_*", kSetting},
    {"HYDI_*", kSetting},
    {"I_MPI_*", kSetting},
    {"MPI_*", kSetting},
    {"MPICH_*", kSetting},
    {"MPIEXEC_*", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.hands_on_job_variables = false;
  traits.counts_hosts_by_entry = true;
  return traits;
}();

Detection detect(const Env& env, const Facts& facts) {
  Detection detection = detect_any(env, {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"});
  if (detection.match == Match::present && facts.is_slurm_task == true) return inherited_by_srun();
  // oneCCL reads MPI_LOCALRANKID, so scripts export it. PALS also sets PMI_RANK.
  const bool is_exported =
      env.has("PALS_RANKID") ||
      (!env.has("PMI_RANK") && (in_slurm_step(env) || env.has("OMPI_COMM_WORLD_RANK")));
  if (detection.match == Match::present && is_exported && !env.has("PMI_FD") &&
      !env.has("PMI_PORT")) {
    return {Match::refused,
            detection.reason + ", but neither PMI_FD nor PMI_PORT: not a rank of a Hydra proxy"};
  }
  return detection;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "PMI_RANK", "mpiexec (Hydra, without -pmi-port)");
  need(facts, "world_size", facts.world_size, env, "PMI_SIZE", "mpiexec (Hydra, without -pmi-port)",
       1);
  need(facts, "local_rank", facts.local_rank, env, "MPI_LOCALRANKID", "mpiexec (Hydra)");
  take(facts, "local_size", facts.local_size, env, "MPI_LOCALNRANKS", 1);
  return facts;
}

// The proxy holds the other end of PMI_FD as long as its rank runs; a program that another launcher
// starts inside that rank inherits the variable but not the descriptor.
std::optional<bool> is_live(const Env&, const Facts& facts) {
  return facts.pmi_fd_is_open_socket;
}

}  // namespace

const LaunchSource kHydra{
    "hydra",
    Level::mpi_launcher,
    "under Slurm its ranks inherit the SLURM_PROCID of the proxy that started them",
    "mpiexec (Hydra)",
    "MPICH, src/pm/hydra/proxy/pmip_cb.c",
    kVariables,
    "node index, nodes, hosts; rank and size with -pmi-port; two proxies on one host count "
    "separately",
    kTraits,
    detect,
    read,
    is_live};

}  // namespace hpcboot::sources
