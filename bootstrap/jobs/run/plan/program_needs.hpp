#pragma once

#include <string>

namespace hpcboot::run {

// Which MPI a program is linked to.
enum class ProgramMpi {
  none,      // no MPI library; one that is loaded later, as by mpi4py, is not seen
  mpich,     // MPICH's ABI: MPICH, Intel MPI, MVAPICH, Cray MPICH
  open_mpi,  // and MPIs based on it
  unknown,   // not a readable ELF file: a script, or missing
};

// Read from the file's own dynamic section (DT_NEEDED). Never throws: a damaged file is `unknown`.
ProgramMpi mpi_of_program(const std::string& path) noexcept;

}  // namespace hpcboot::run
