#include "checks.hpp"
#include "core/launchers/launchers.hpp"
#include "mpi_family.hpp"

namespace hpcboot::doctor {
namespace {

struct Live {
  Mpi family = Mpi::unknown;
  std::string name;     // "Open MPI 5.0.11"
  std::string program;  // its executable; empty if unknown
};

// The MPI whose mpirun started this rank. Open MPI 5 exports its version, older ones do not.
Live live_launcher(const Situation& s) {
  Live live;
  if (!s.resolution) return live;
  if (s.resolution->launcher == "hydra") live.family = Mpi::hydra;
  if (s.resolution->launcher == "openmpi")
    live.family = sources::is_served_by_prrte(s.env) ? Mpi::open_mpi_5 : Mpi::open_mpi_4;
  live.name = name_of(live.family);
  const std::string_view version = s.env.text("OMPI_VERSION").value_or("");
  if (live.family == Mpi::open_mpi_5 && !version.empty())
    live.name = "Open MPI " + std::string(version.substr(0, 32));
  const std::string& above = s.system.mpi_launcher;
  if (family_of_launcher(above) == live.family) live.program = above;
  return live;
}

std::string with_path(const std::string& name, const std::string& path) {
  return path.empty() ? name : name + " (" + path + ")";
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// Programs are usually built with the mpicc beside the mpirun in PATH.
void compare_with_path(const Live& live, const std::optional<std::string>& mpirun,
                       Findings& findings) {
  const std::string started = with_path(live.name, live.program) + " started this rank";
  const char* const remedy =
      "start an MPI program with the mpirun of the MPI that it was built with; no action needed "
      "for programs without MPI";
  if (!mpirun) {
    findings.ok("mpi", started);
    return;
  }
  if (mpirun->empty()) {
    findings.ok("mpi", started + "; no mpirun in PATH");
    return;
  }
  const Mpi family = family_of_mpirun(*mpirun);
  const std::string other = "mpirun in PATH is " + with_path(name_of(family), *mpirun);
  if (family != Mpi::unknown && family != live.family) {
    const bool is_alone = family == Mpi::hydra || live.family == Mpi::hydra;
    findings.warning("mpi",
                     started + ", but " + other + ": a program built with that MPI may " +
                         (is_alone ? "run as rank 0 of 1 in each process" : "fail in MPI_Init"),
                     remedy);
  } else if (!live.program.empty() && folder_of(live.program) != folder_of(*mpirun)) {
    findings.note("mpi", started + "; " + other + ", from another installation", remedy);
  } else {
    findings.ok("mpi", started + "; " + other);
  }
}

}  // namespace

void check_mpi(const Situation& s, Findings& findings) {
  const bool by_srun = s.resolution && s.resolution->launcher == "slurm";
  if (by_srun && s.env.has("I_MPI_ROOT") && !s.env.has("I_MPI_PMI_LIBRARY")) {
    findings.warning("mpi",
                     "Intel MPI's module is loaded and srun started this process, but "
                     "I_MPI_PMI_LIBRARY is not set: each rank would run as rank 0 of 1",
                     "export I_MPI_PMI_LIBRARY=/path/to/libpmi2.so and use srun --mpi=pmi2");
    return;
  }
  const Live live = live_launcher(s);
  if (live.family != Mpi::unknown) {
    compare_with_path(live, s.system.mpirun, findings);
    return;
  }
  if (!s.system.mpirun) return;
  const std::string& mpirun = *s.system.mpirun;
  const Mpi mpi = family_of_mpirun(mpirun);
  const std::string where =
      mpirun.empty() ? "no mpirun in PATH" : "mpirun is " + with_path(name_of(mpi), mpirun);
  const std::string type(s.env.text("SLURM_MPI_TYPE").value_or(""));
  const bool several = by_srun && s.resolution->placement.world_size > 1;
  const bool pmix = type.rfind("pmix", 0) == 0 || s.env.has("PMIX_NAMESPACE");
  const std::string offered = type.empty() || type == "none" ? "no PMI" : type;
  if (several && mpi == Mpi::open_mpi_5 && !pmix) {
    findings.problem("mpi",
                     where + ", which supports only PMIx, but srun offers " + offered +
                         ": each MPI rank would run as rank 0 of 1",
                     "start the program with srun --mpi=pmix (srun --mpi=list shows whether it is "
                     "available) or with mpirun");
  } else if (several && mpi == Mpi::open_mpi_4 && !pmix) {
    findings.warning("mpi",
                     where + ", and srun offers " + offered +
                         ": unless it was built for that, each MPI rank would run as rank 0 of 1",
                     "start the program with srun --mpi=pmix or with mpirun; no action needed for "
                     "programs without MPI");
  } else if (several && mpi == Mpi::hydra && pmix) {
    findings.note(
        "mpi", where + ", and srun offers PMIx, which MPICH supports only if it was built for it",
        "if every MPI rank is rank 0 of 1, use srun --mpi=pmi2");
  } else {
    findings.ok("mpi", where);
  }
}

}  // namespace hpcboot::doctor
