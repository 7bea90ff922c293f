#include "mpi_family.hpp"

namespace hpcboot::doctor {

const char* name_of(Mpi mpi) {
  switch (mpi) {
    case Mpi::open_mpi_4:
      return "Open MPI 4 or older";
    case Mpi::open_mpi_5:
      return "Open MPI 5";
    case Mpi::hydra:
      return "MPICH's or Intel's Hydra";
    case Mpi::unknown:
      break;
  }
  return "of an unknown kind";
}

Mpi family_of_launcher(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const auto begins = [file](std::string_view word) { return file.substr(0, word.size()) == word; };
  const auto holds = [file](std::string_view word) {
    return file.find(word) != std::string_view::npos;
  };
  if (begins("orted") || begins("orterun")) return Mpi::open_mpi_4;
  if (begins("prte") || holds("-prrte")) return Mpi::open_mpi_5;
  if (holds("hydra") || file == "pmi_proxy") return Mpi::hydra;
  return Mpi::unknown;
}

Mpi family_of_mpirun(std::string_view path) {
  const auto holds = [path](std::string_view word) {
    return path.find(word) != std::string_view::npos;
  };
  const Mpi family = family_of_launcher(path);
  if (family != Mpi::unknown) return family;
  if (holds("mpich") || holds("intel")) return Mpi::hydra;
  return holds("openmpi") ? Mpi::open_mpi_5 : Mpi::unknown;
}

}  // namespace hpcboot::doctor
