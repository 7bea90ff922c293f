# For .bats files that try `hpcboot run` on this machine: by its own agent, by mpirun of Open MPI, and by MPICH's mpirun,
# Hydra. They load background and open_mpi, too.
# shellcheck shell=bash

# find_run_launchers: for setup_file.
find_run_launchers() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  HPCBOOT=$(realpath -m "$HPCBOOT")
  export HPCBOOT
  use_open_mpi
  mkdir "$BATS_FILE_TMPDIR/hydra"
  if command -v mpiexec.hydra >/dev/null; then
    ln -s "$(command -v mpiexec.hydra)" "$BATS_FILE_TMPDIR/hydra/mpirun"
    ln -s "$(command -v hydra_pmi_proxy)" "$BATS_FILE_TMPDIR/hydra/" # which it looks for beside itself
  fi
}

# be_nowhere_special: for setup; without the job and the launch that the tests themselves may be in, in the test's folder.
be_nowhere_special() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  local name
  for name in $(compgen -e); do
    case $name in
      HPCBOOT | PATH | HOME | USER | TERM | LANG | LC_* | TMPDIR | BATS* | PYTHON* | OMPI_ALLOW_* | OMPI_MCA_orte_tmpdir_base) ;;
      *) unset "$name" || true ;;
    esac
  done
  cd "$BATS_TEST_TMPDIR" || return
}

# use_launcher LAUNCHER: local, mpirun (Open MPI's) or hydra; $launcher is what --launcher calls it then.
use_launcher() {
  PATH=${PATH#"$BATS_FILE_TMPDIR/hydra:"}
  # shellcheck disable=SC2034 # for the caller
  launcher=${1/hydra/mpirun}
  case $1 in
    mpirun) mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here" ;;
    hydra)
      [ -x "$BATS_FILE_TMPDIR/hydra/mpirun" ] || skip "mpiexec.hydra is not here"
      PATH=$BATS_FILE_TMPDIR/hydra:$PATH
      ;;
  esac
}
