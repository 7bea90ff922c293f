#include "apinfo.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"
#include "slurm_step.hpp"

// HPE's PALS (mpiexec or aprun) sets for each process PALS_RANKID, PALS_NODEID, PALS_LOCAL_RANKID,
// PALS_LOCAL_SIZE, PALS_APID and PALS_APINFO (HPE's pals.h), and no world size. Cray PMI adds
// PMI_RANK, PMI_SIZE, PMI_LOCAL_RANK and PMI_LOCAL_SIZE (Polaris); MPICH with PMIx does not
// (Aurora). The PALS_APINFO file has everything. Slurm's cray_shasta plugin and Flux's cray-pals
// plugin also set PALS_* for Cray PMI; those processes are Slurm's and Flux's tasks.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PALS_RANKID", kIdentity, kRequired},
    {"PALS_LOCAL_RANKID", kIdentity, kRequired},
    {"PMI_SIZE", kSize, kUsed},
    {"PALS_APINFO", kHandle, kUsed},
    {"PALS_NODEID", kIdentity, kUsed},
    {"PALS_LOCAL_SIZE", kSize, kUsed},
    {"PMI_RANK", kIdentity, kUsed},
    {"PMI_LOCAL_RANK", kIdentity, kUsed},
    {"PMI_LOCAL_SIZE", kSize, kUsed},
    {"PALS_APID", kCompanion, kUsed},
    {"PALS_DEPTH", kCompanion},
    {"PALS_FD", kHandle},
    {"PALS_LOCAL_*", kIdentity},
    {"PALS_SPOOL_DIR", kHandle},
    {"PALS_STARTUP_*", kHandle},
    {"PMI_UNIVERSE_SIZE", kSize},
    {"PMI_SHARED_SECRET", kSecret},
    {"PMI_CONTROL_*", kHandle},
    {"PMI_CRAY_*", kCompanion},
    {"PALS_*", kSetting},
    {"CRAY_*", kSetting},
};

Detection detect(const Env& env, const Facts& facts) {
  Detection detection = detect_any(env, {"PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_NODEID",
                                         "PALS_LOCAL_SIZE", "PALS_APINFO", "PALS_APID"});
  if (detection.match != Match::present) return detection;
  if (facts.is_slurm_task == true) return inherited_by_srun();
  // Also in a Flux batch script, which inherits its broker's variables: the broker unsets PMI_*,
  // not PALS_*.
  const Detection flux = detect_any(env, {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID",
                                          "FLUX_URI", "FLUX_ENCLOSING_ID"});
  if (flux.match == Match::present)
    return {Match::refused, flux.reason + ": Flux's cray-pals plugin also sets PALS_*"};
  if (in_slurm_step(env)) {
    // If PALS did run inside a step, these two would differ.
    const auto own = parse_whole_number(env.text("PALS_RANKID").value_or(""));
    const auto slurms = parse_whole_number(env.text("SLURM_PROCID").value_or(""));
    if (!own || !slurms || *own == *slurms) {
      return {Match::refused,
              "this is a task of a Slurm step, whose cray_shasta plugin also sets PALS_*"};
    }
  }
  if (is_served_by_prrte(env)) {
    return {Match::refused, "PMIX_NAMESPACE=" + std::string(*env.text("PMIX_NAMESPACE")) +
                                " belongs to PRRTE: PALS_* come from the daemon that PALS started"};
  }
  return detection;
}

[[noreturn]] void fail_inconsistent(const std::string& found, const char* expected) {
  throw Error(
      ErrorCode::inconsistent_placement, "pals: " + found, expected,
      "a variable was inherited from an outer launch: start the program with mpiexec again, "
      "or choose the launcher with HPCBOOT_METHODS");
}

class PalsReader {
 public:
  PalsReader(const Env& env, const Facts& process) : env_(env) {
    if (process.apinfo)
      apinfo_ = parse_apinfo(*process.apinfo, env.text("PALS_APINFO").value_or("the table"));
  }

  LaunchFacts read() {
    need(facts_, "rank", facts_.rank, env_, "PALS_RANKID", "mpiexec (PALS)");
    // A launcher inside PALS would set its own PMI_*.
    const auto pmi_rank = env_.integer("PMI_RANK");
    const bool pmi_is_pals = !pmi_rank || *pmi_rank == *facts_.rank;
    if (!pmi_is_pals && !apinfo_) {
      fail_inconsistent("PALS_RANKID=" + std::to_string(*facts_.rank) +
                            " with PMI_RANK=" + std::to_string(*pmi_rank),
                        "the same rank in both, so that PMI_SIZE belongs to this launch");
    }
    if (pmi_is_pals) take(facts_, "world_size", facts_.world_size, env_, "PMI_SIZE", 1);
    take(facts_, "local_rank", facts_.local_rank, env_, "PALS_LOCAL_RANKID");
    take(facts_, "local_size", facts_.local_size, env_, "PALS_LOCAL_SIZE", 1);
    take(facts_, "node_rank", facts_.node_rank, env_, "PALS_NODEID");
    if (apinfo_) take_apinfo();
    if (!facts_.world_size) fail_no_size();
    if (pmi_is_pals && !facts_.local_rank)
      take(facts_, "local_rank", facts_.local_rank, env_, "PMI_LOCAL_RANK");
    if (pmi_is_pals && !facts_.local_size)
      take(facts_, "local_size", facts_.local_size, env_, "PMI_LOCAL_SIZE", 1);
    // kokkos#8889: taken for 0, it would put every process on the first device.
    if (!facts_.local_rank && *facts_.world_size > 1)
      env_.require_integer("PALS_LOCAL_RANKID", "mpiexec (PALS)");
    facts_.identity = env_.text("PALS_APID").value_or("");
    return facts_;
  }

 private:
  void merge(const char* field, std::optional<int>& slot, int value) {
    if (slot && *slot != value) {
      fail_inconsistent(facts_.variables[field] + "=" + std::to_string(*slot) +
                            ", but PALS_APINFO has " + field + "=" + std::to_string(value) +
                            " for PALS_RANKID=" + std::to_string(*facts_.rank),
                        "the same placement in both");
    }
    if (slot) return;
    slot = value;
    facts_.variables[field] = "PALS_APINFO";
  }

  void take_apinfo() {
    const auto rank = static_cast<std::size_t>(*facts_.rank);
    if (rank >= apinfo_->processes.size()) {
      fail_inconsistent("PALS_RANKID=" + std::to_string(rank) + ", but PALS_APINFO has " +
                            std::to_string(apinfo_->processes.size()) + " processes",
                        "PALS_RANKID below the number of processes");
    }
    const Apinfo::Process& self = apinfo_->processes[rank];
    merge("world_size", facts_.world_size, static_cast<int>(apinfo_->processes.size()));
    merge("node_rank", facts_.node_rank, self.node);
    merge("local_rank", facts_.local_rank, self.local_rank);
    merge("local_size", facts_.local_size,
          apinfo_->local_sizes[static_cast<std::size_t>(self.node)]);
    facts_.rank0_host = apinfo_->hosts[static_cast<std::size_t>(apinfo_->processes.front().node)];
    facts_.variables["master_addr"] = "PALS_APINFO";
    for (const int processes : apinfo_->local_sizes) {
      if (processes == 0) return;  // not only hosts of this launch
    }
    merge("num_nodes", facts_.num_nodes, static_cast<int>(apinfo_->hosts.size()));
    facts_.hosts = apinfo_->hosts;
    facts_.variables["hosts"] = "PALS_APINFO";
  }

  [[noreturn]] void fail_no_size() const {
    const auto path = env_.text("PALS_APINFO");
    throw Error(ErrorCode::missing_variable,
                "PALS_RANKID=" + std::to_string(*facts_.rank) + " without PMI_SIZE, and " +
                    (path ? "the file PALS_APINFO=" + std::string(*path) + " is not readable here"
                          : "PALS_APINFO is not set"),
                "PMI_SIZE, which Cray PMI sets, or the table that PALS_APINFO names: PALS itself "
                "sets no size",
                "pass it with mpiexec -n N --env PMI_SIZE=N …, or set HPCBOOT_RANK, "
                "HPCBOOT_WORLD_SIZE and HPCBOOT_LOCAL_RANK");
  }

  const Env& env_;
  std::optional<Apinfo> apinfo_;
  LaunchFacts facts_;
};

LaunchFacts read(const Env& env, const Facts& facts) {
  return PalsReader(env, facts).read();
}

// If PMIx serves this process, it serves the innermost launch.
std::optional<bool> is_live(const Env& env, const Facts&) {
  if (!env.has("PMIX_NAMESPACE")) return std::nullopt;
  return env.text("PMIX_RANK") == env.text("PALS_RANKID");
}

}  // namespace

const LaunchSource kPals{
    "pals",
    Level::mpi_launcher,
    "started inside a PBS job; daemons that it starts pass its variables on to their ranks",
    "mpiexec (PALS)",
    "HPE's pals.h; https://cpe.ext.hpe.com/docs/latest/",
    kVariables,
    "hosts without the PALS_APINFO file; size without that file or PMI_SIZE (PALS sets none)",
    {},
    detect,
    read,
    is_live};

}  // namespace hpcboot::sources
