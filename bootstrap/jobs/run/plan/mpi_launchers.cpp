#include "mpi_launchers.hpp"

#include "diagnose/doctor/mpi_family.hpp"
#include "diagnose/doctor/programs.hpp"

namespace hpcboot::run {
namespace {

using doctor::Mpi;

bool holds(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// The file's real name is usually sufficient and costs nothing; an unknown program is asked for its
// version.
Mpi family_of(const std::string& path) {
  return doctor::family_of_launcher(doctor::program_behind(path));
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

std::optional<MpiLauncher> find_mpirun(const Surroundings& s) {
  const std::string path = s.find_program(s.env, "mpirun");
  if (path.empty()) return std::nullopt;
  switch (family_of(path)) {
    case Mpi::open_mpi_4:
    case Mpi::open_mpi_5:
      return MpiLauncher{path, Launcher::openmpi};
    case Mpi::hydra:
      return MpiLauncher{path, Launcher::hydra};
    case Mpi::unknown:
      break;
  }
  const std::string version = s.output_of({path, "--version"});
  // IBM Spectrum MPI is based on Open MPI.
  if (holds(version, "Open MPI") || holds(version, "Spectrum MPI") || holds(version, "PRRTE"))
    return MpiLauncher{path, Launcher::openmpi};
  if (holds(version, "HYDRA") || holds(version, "Intel(R) MPI"))
    return MpiLauncher{path, Launcher::hydra};
  return std::nullopt;
}

std::optional<MpiLauncher> find_pals(const Surroundings& s) {
  const std::string path = s.find_program(s.env, "mpiexec");
  if (path.empty() || family_of(path) != Mpi::unknown) return std::nullopt;
  if (!holds(s.output_of({path, "--version"}), "PALS")) return std::nullopt;
  return MpiLauncher{path, Launcher::pals};
}

bool starts_daemons_by_tm(const MpiLauncher& mpirun, const Surroundings& s) {
  if (mpirun.launcher != Launcher::openmpi) return false;  // Hydra reads PBS's hosts and uses ssh
  // "mca:plm:tm:version:…" from ompi_info(1); with Open MPI 5 from prte_info(1).
  const auto says = [&](const char* program) {
    return holds(s.output_of({folder_of(mpirun.path) + program, "--parsable"}), "mca:plm:tm:");
  };
  return says("ompi_info") || says("prte_info");
}

}  // namespace hpcboot::run
