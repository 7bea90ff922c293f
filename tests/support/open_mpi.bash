# For .bats files that start Open MPI's programs.
# shellcheck shell=bash

# use_open_mpi: allows root, and avoids the folder that the user's other jobs share.
use_open_mpi() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_orte_tmpdir_base=$BATS_FILE_TMPDIR/open_mpi
  "$(dirname "${BASH_SOURCE[0]}")/open_mpi_folder" "$OMPI_MCA_orte_tmpdir_base"
}
