#include "launchers.hpp"

// flux-shell sets for each task FLUX_TASK_RANK, FLUX_TASK_LOCAL_ID, FLUX_JOB_SIZE and
// FLUX_JOB_NNODES, and PMI_RANK, PMI_SIZE and PMI_FD unless -o pmi=none is given:
// flux-environment(7). A batch script has none of them. The environment has no node index, local
// size or hosts, and ranks need not be assigned node by node (--taskmap). A node is a broker, and a
// host may run several (flux start --test-size).
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"FLUX_TASK_RANK", kIdentity, kRequired},
    {"FLUX_JOB_SIZE", kSize, kRequired},
    {"FLUX_TASK_LOCAL_ID", kIdentity, kRequired},
    {"FLUX_JOB_NNODES", kSize, kUsed},
    {"FLUX_JOB_ID", kSetting, kUsed},
    {"PMI_FD", kHandle, kUsed},
    {"PMI_RANK", kIdentity, kUsed},
    {"PMI_SIZE", kSize, kUsed},
    {"FLUX_TASK_*", kIdentity},
    {"FLUX_KVS_NAMESPACE", kHandle},
    {"FLUX_*", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.counts_hosts_by_entry = true;
  // Its shell accepts a task that ends without it, and cannot answer a "finalize" that arrives
  // after the task has ended: that "PMI-1 wire protocol error" ends the job (flux-core 0.27 and
  // later, shell/pmi.c).
  traits.takes_silence_for_a_crash = false;
  return traits;
}();

Detection detect(const Env& env, const Facts& facts) {
  Detection detection = detect_any(env, {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID"});
  // A task has its own job's id, a batch script the enclosing job's; both may have sizes.
  if (detection.match != Match::present && env.has("FLUX_JOB_ID"))
    detection = detect_any(env, {"FLUX_JOB_SIZE", "FLUX_JOB_NNODES"});
  if (detection.match == Match::present && facts.is_slurm_task == true) return inherited_by_srun();
  return detection;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "FLUX_TASK_RANK", "flux run");
  need(facts, "world_size", facts.world_size, env, "FLUX_JOB_SIZE", "flux run", 1);
  need(facts, "local_rank", facts.local_rank, env, "FLUX_TASK_LOCAL_ID", "flux run");
  take(facts, "num_nodes", facts.num_nodes, env, "FLUX_JOB_NNODES", 1);
  facts.identity = env.text("FLUX_JOB_ID").value_or("");
  return facts;
}

// Under Flux's own PMI the ranks agree; if they differ, PMI_FD belongs to a launcher that a task
// started. A closed PMI_FD proves nothing: a program may have closed it.
std::optional<bool> is_live(const Env& env, const Facts& facts) {
  if (!env.has("PMI_FD")) return std::nullopt;
  if (env.text("PMI_RANK") != env.text("FLUX_TASK_RANK") ||
      env.text("PMI_SIZE") != env.text("FLUX_JOB_SIZE")) {
    return false;
  }
  return facts.pmi_fd_is_open_socket;
}

}  // namespace

const LaunchSource kFlux{
    "flux",
    Level::mpi_launcher,
    "a Flux instance may run inside a job of any other scheduler",
    "flux run",
    "https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man7/flux-environment.html",
    kVariables,
    "node index, local size (except with one task per node), hosts",
    kTraits,
    detect,
    read,
    is_live};

}  // namespace hpcboot::sources
