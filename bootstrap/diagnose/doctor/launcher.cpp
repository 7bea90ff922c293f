#include "checks.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/scheduler.hpp"

namespace hpcboot::doctor {
namespace {

enum class Mpi { none, open_mpi, open_mpi_5, hydra, other };

// By the file that mpirun really is: Open MPI 4 calls it orterun, 5 prterun or mpirun-prrte.
Mpi family_of(std::string_view mpirun) {
  if (mpirun.empty()) return Mpi::none;
  const std::string_view file = mpirun.substr(mpirun.rfind('/') + 1);
  const auto holds = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (holds(file, "orterun")) return Mpi::open_mpi;
  if (holds(file, "prte") || holds(file, "prun")) return Mpi::open_mpi_5;
  if (holds(file, "hydra") || holds(mpirun, "mpich") || holds(mpirun, "intel")) return Mpi::hydra;
  if (holds(mpirun, "openmpi")) return Mpi::open_mpi_5;
  return Mpi::other;
}

const char* name_of(Mpi mpi) {
  switch (mpi) {
    case Mpi::open_mpi:
      return "Open MPI 4 or older";
    case Mpi::open_mpi_5:
      return "Open MPI 5";
    case Mpi::hydra:
      return "MPICH's or Intel's Hydra";
    case Mpi::none:
    case Mpi::other:
      break;
  }
  return "of a kind that is not known here";
}

}  // namespace

void check_launcher(const Situation& s, Findings& findings) {
  if (s.error && s.error->code() == ErrorCode::needs_exchange &&
      !s.system.exchange.value_or("").empty()) {
    findings.note("launcher", s.error->found() + ": only an exchange between the ranks tells it",
                  "nothing under hpcboot exec, hpcboot check or the library");
    return;
  }
  if (s.error) {
    findings.problem("launcher",
                     "error " + std::to_string(s.error->exit_code()) + " (" +
                         std::string(hpcboot::name_of(s.error->code())) + "): found " +
                         s.error->found() + "; expected " + s.error->expected(),
                     s.error->remedy());
    return;
  }
  const Resolution& r = *s.resolution;
  if (r.launcher == "single") {
    findings.ok("launcher", "no launcher placed this process: it is alone");
    return;
  }
  findings.ok("launcher", "rank " + std::to_string(r.placement.rank) + " of " +
                              std::to_string(r.placement.world_size) + " by " + r.launcher);
}

void check_witnesses(const Situation& s, Findings& findings) {
  if (!s.resolution) return;
  for (const Witness& witness : s.resolution->witnesses) {
    if (witness.agrees) continue;
    const std::string message =
        witness.source + " disagrees with " + s.resolution->launcher + ": " + witness.note;
    if (witness.is_explained) {
      findings.note("other launchers", message, "no action needed");
    } else {
      findings.warning("other launchers", message,
                       "set HPCBOOT_METHODS to the launcher that is meant, or unset the variables "
                       "of the other");
    }
  }
}

void check_tasks(const Situation& s, Findings& findings) {
  if (!s.resolution || s.resolution->launcher != "single" || !s.resolution->scheduler) return;
  const std::string job = *s.resolution->scheduler + " job " + s.resolution->job_id.value_or("");
  const auto allocation = read_allocation(s.env, {std::nullopt, false});
  const int tasks = allocation ? allocation->num_tasks.value_or(1) : 1;
  if (tasks <= 1 && s.resolution->hosts.size() <= 1) {
    findings.ok("tasks", job + " has one task");
    return;
  }
  const Scheduler* scheduler = find_scheduler(*s.resolution->scheduler);
  const std::string launcher(scheduler != nullptr ? scheduler->start_command : "mpirun");
  findings.note("tasks",
                job + " has " + std::to_string(tasks) + " tasks on " +
                    std::to_string(s.resolution->hosts.size()) +
                    " hosts, and this process is none of them, as in a batch script",
                "put " + launcher + " before the program; `" + launcher +
                    " hpcboot doctor` looks at each task");
}

void check_mpi(const Situation& s, Findings& findings) {
  const bool by_srun = s.resolution && s.resolution->launcher == "slurm";
  if (by_srun && s.env.has("I_MPI_ROOT") && !s.env.has("I_MPI_PMI_LIBRARY")) {
    findings.warning("mpi",
                     "Intel MPI's module is loaded and srun started this process, but "
                     "I_MPI_PMI_LIBRARY is not set: every rank would be rank 0 of 1",
                     "export I_MPI_PMI_LIBRARY=/path/to/libpmi2.so and use srun --mpi=pmi2");
    return;
  }
  if (!s.system.mpirun) return;
  const Mpi mpi = family_of(*s.system.mpirun);
  const std::string where =
      mpi == Mpi::none ? "no mpirun in PATH"
                       : "mpirun is " + std::string(name_of(mpi)) + " (" + *s.system.mpirun + ")";
  const std::string type(s.env.text("SLURM_MPI_TYPE").value_or(""));
  const bool several = by_srun && s.resolution->placement.world_size > 1;
  const bool pmix = type.rfind("pmix", 0) == 0 || s.env.has("PMIX_NAMESPACE");
  const std::string offered = type.empty() || type == "none" ? "no PMI" : type;
  if (several && mpi == Mpi::open_mpi_5 && !pmix) {
    findings.problem("mpi",
                     where + ", which speaks PMIx only, and srun offers " + offered +
                         ": every MPI rank would be rank 0 of 1",
                     "start with srun --mpi=pmix (srun --mpi=list tells whether it is there), or "
                     "with mpirun");
  } else if (several && mpi == Mpi::open_mpi && !pmix) {
    findings.warning("mpi",
                     where + ", and srun offers " + offered +
                         ": unless it was built for that, every MPI rank would be rank 0 of 1",
                     "start with srun --mpi=pmix or with mpirun; without MPI this does not matter");
  } else if (several && mpi == Mpi::hydra && pmix) {
    findings.note(
        "mpi",
        where + ", and srun offers " + type + ", which MPICH speaks only where it was built for it",
        "if every MPI rank is rank 0 of 1: srun --mpi=pmi2");
  } else {
    findings.ok("mpi", where);
  }
}

}  // namespace hpcboot::doctor
