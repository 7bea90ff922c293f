#pragma once

#include <string>

namespace hpcboot::run {

// Which MPI a program is linked to.
enum class ProgramMpi {
  none,      // it names no MPI library; one that it loads later, as mpi4py does, is not seen
  mpich,     // MPICH's ABI: MPICH, Intel MPI, MVAPICH, Cray MPICH
  open_mpi,  // and those that are made of it
  unknown,   // no ELF file that can be read: a script, or nothing
};

// What the file's own dynamic section says (DT_NEEDED). Never throws: a damaged file is `unknown`.
ProgramMpi mpi_of_program(const std::string& path) noexcept;

}  // namespace hpcboot::run
