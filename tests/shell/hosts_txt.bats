#!/usr/bin/env bats
# setup/hosts.txt as shipped, with the command from README.

load ../support/open_mpi

setup() {
  bin=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}
  use_open_mpi
  export OMP_NUM_THREADS=1
}

@test "mpirun --hostfile setup/hosts.txt build/bin/trainer --mode ddp" {
  [ -x "$bin/trainer" ] || skip "the trainer is not built: it needs LibTorch"
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "no mpirun of Open MPI on this machine"
  mkdir "$BATS_TEST_TMPDIR/checkout" "$BATS_TEST_TMPDIR/checkout/build"
  cd "$BATS_TEST_TMPDIR/checkout" || return 1
  ln -s "$(realpath "$BATS_TEST_DIRNAME/../../setup")" setup
  ln -s "$(realpath "$bin")" build/bin
  build/bin/trainer digits data/mnist --train 4 --test 2
  run timeout 100 mpirun --hostfile setup/hosts.txt build/bin/trainer --mode ddp </dev/null
  [ "$status" -eq 0 ]
  [[ $output == *"ddp: 1 x 2"* ]]
  [ "$(compgen -G 'runs/*_ddp_1x2/run.json' | wc -l)" -eq 1 ]
}
