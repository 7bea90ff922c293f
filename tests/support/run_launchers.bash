# For .bats files that test `hpcboot run` on this machine: with its own agent, with Open MPI's mpirun, and with MPICH's
# mpirun, Hydra. They also load background and open_mpi.
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
    ln -s "$(command -v hydra_pmi_proxy)" "$BATS_FILE_TMPDIR/hydra/" # Hydra looks for it beside itself
  fi
}

# be_nowhere_special: for setup; hides the job and the launch that the tests may run in, and enters the test's folder.
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

# use_launcher LAUNCHER: local, mpirun (Open MPI's) or hydra; sets $launcher to its name for --launcher.
use_launcher() {
  PATH=${PATH#"$BATS_FILE_TMPDIR/hydra:"}
  # shellcheck disable=SC2034 # for the caller
  launcher=${1/hydra/mpirun}
  case $1 in
    mpirun) mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "no mpirun of Open MPI on this machine" ;;
    hydra)
      [ -x "$BATS_FILE_TMPDIR/hydra/mpirun" ] || skip "no mpiexec.hydra on this machine"
      PATH=$BATS_FILE_TMPDIR/hydra:$PATH
      ;;
  esac
}
