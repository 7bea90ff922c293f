#!/usr/bin/env bats
# A launcher inside a launcher, with the `env -u …` that hpcboot prints.
# shellcheck disable=SC2016 # quoted programs are to expand their own variables

load ../support/open_mpi

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  command -v mpirun >/dev/null || skip "no mpirun here"
  export HPCBOOT
  use_open_mpi
}

launcher() { sed -n 's/^  "launcher": "\(.*\)",/\1/p'; }

@test "under mpirun a sanitized process is alone" {
  [ "$(mpirun -np 1 "$HPCBOOT" show --json | launcher)" = openmpi ]
  [ "$(mpirun -np 1 sh -c '$("$HPCBOOT" sanitize) "$HPCBOOT" show --json' | launcher)" = single ]
  [ "$(mpirun -np 1 sh -c 'env $("$HPCBOOT" sanitize) "$HPCBOOT" show --json' | launcher)" = single ]
}

@test "mpirun inside mpirun starts ranks of its own" {
  run mpirun -np 1 sh -c '$("$HPCBOOT" sanitize) mpirun -np 2 --oversubscribe "$HPCBOOT" show --json'
  [ "$status" -eq 0 ]
  [ "$(grep -c '"world_size": 2' <<<"$output")" -eq 2 ]
}

@test "if there is nothing to unset, the command is env alone" {
  [ "$(env -i "$HPCBOOT" sanitize)" = env ]
  [ "$(env -i RANK=0 SLURM_JOB_ID=1 "$HPCBOOT" sanitize)" = "env -u RANK" ]
  [ "$(env -i RANK=0 SLURM_JOB_ID=1 "$HPCBOOT" sanitize --all)" = "env -u RANK -u SLURM_JOB_ID" ]
}
