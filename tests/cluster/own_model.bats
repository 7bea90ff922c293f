#!/usr/bin/env bats
# A third-party program, with its own model and the installed library, on two hosts: its output under srun is the same
# as under mpirun on one host.

load helper
load ../support/open_mpi

setup_file() {
  [[ -x $HPCBOOT_BIN ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")"
}

teardown_file() {
  "$CLUSTER" down
}

@test "the example program learns the same under srun on 2 hosts x 2 ranks as under mpirun" {
  command -v mpirun >/dev/null || skip "no mpirun on this machine"
  enter_shared_folder
  export OMP_NUM_THREADS=1
  as_tester timeout 120 "$BATS_TEST_DIRNAME/lib/launch.sh" srun_pmix_2x2 "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
    env OMP_NUM_THREADS=1 "$HPCBOOT_BIN" || fail "$(cat n*.*)"
  [[ $(find . -name 'n1.*' | wc -l) -eq 2 && $(find . -name 'n2.*' | wc -l) -eq 2 ]] || fail "$(ls)"
  cat n[12].* | sort >srun.txt
  use_open_mpi
  timeout 120 mpirun -np 4 --oversubscribe "$HPCBOOT_BIN" | sort >mpirun.txt
  cat srun.txt
  [[ $(grep -cE '^rank [0-3] of 4: loss 0\.[0-9]+$' srun.txt) -eq 4 ]]
  diff srun.txt mpirun.txt
}
