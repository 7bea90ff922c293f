#pragma once

#include <string_view>

namespace hpcboot::doctor {

enum class Mpi { unknown, open_mpi_4, open_mpi_5, hydra };

// "Open MPI 4 or older".
const char* name_of(Mpi mpi);

// The family of a launcher (mpirun or one of its daemons), by the name of the resolved executable.
// Mpi::unknown for a file named mpirun.
Mpi family_of_launcher(std::string_view path);

// Whose mpirun is it, by its file or else by its folder? Open MPI 4 has its orterun beside it.
Mpi family_of_mpirun(std::string_view path);

}  // namespace hpcboot::doctor
