#!/usr/bin/env bats
# `hpcboot run` in Slurm jobs that ask for tasks, CPUs and GPUs in the ways that sbatch(1) has: it starts what was granted.
# shellcheck disable=SC2016,SC2154 # ranks expand their scripts; run sets output

load helper

setup_file() {
  start_for_show # 8 cores and 4 GPUs on each of 2 hosts
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
  printf '#!/bin/sh\necho "$(hostname) $RANK of $WORLD_SIZE: $CUDA_VISIBLE_DEVICES"\n' >rank.sh
  printf '#!/bin/sh\necho "$(hostname) $2: $CUDA_VISIBLE_DEVICES"\n' >torchrun
  chmod 755 rank.sh torchrun
}

# in_job SBATCH_OPTION… run RUN_ARGUMENT…: sets $output to what `hpcboot run RUN_ARGUMENT…` writes in a job, sorted.
in_job() {
  local options=()
  while [[ $1 != run ]]; do
    options+=("$1")
    shift
  done
  as_tester env PATH="$PWD:$PATH" sbatch --wait --output=out --wrap "$(printf '%q ' timeout 60 "$HPCBOOT_BIN" "$@")" "${options[@]}" >job ||
    fail "$(cat job out)" || return
  output=$(grep -E '^n[12] ' out | sort) || fail "$(cat out)"
}

@test "GPUs without a number of ranks: a rank each, though there are fewer CPUs" {
  in_job -N2 --gpus-per-node=2 run -- ./rank.sh
  [[ $output == $'n1 0 of 4: 0,1\nn1 1 of 4: 0,1\nn2 2 of 4: 0,1\nn2 3 of 4: 0,1' ]] || fail "$(cat out)"
  grep -q '2 ranks on host n1 share 1 CPU: ask for more with --cpus-per-gpu' out || fail "$(cat out)"
}

@test "--gpus, which Slurm deals unevenly: as many ranks as each host has GPUs, also on one host alone" {
  in_job -N2 --gpus=4 run -- ./rank.sh
  [[ $output == $'n1 0 of 4: 0,1,2\nn1 1 of 4: 0,1,2\nn1 2 of 4: 0,1,2\nn2 3 of 4: 0' ]] || fail "$(cat out)"
  in_job -N2 --ntasks-per-node=2 --gpus=4 run --nodes 1 -- ./rank.sh
  [[ $output == $'n1 0 of 2: 0,1,2\nn1 1 of 2: 0,1,2' ]] || fail "$(cat out)"
}

@test "--ntasks-per-gpu" {
  in_job -N2 --gpus-per-node=2 --ntasks-per-gpu=1 run -- ./rank.sh
  [[ $output == $'n1 0 of 4: 0,1\nn1 1 of 4: 0,1\nn2 2 of 4: 0,1\nn2 3 of 4: 0,1' ]] || fail "$(cat out)"
}

@test "--gpus-per-task: each rank has its own, and torchrun those of its ranks" {
  in_job -N2 --ntasks-per-node=2 --gpus-per-task=1 run -- ./rank.sh
  [[ $output == $'n1 0 of 4: 0\nn1 1 of 4: 1\nn2 2 of 4: 0\nn2 3 of 4: 1' ]] || fail "$(cat out)"
  in_job -N2 --ntasks-per-node=2 --gpus-per-task=1 run --torchrun -- train.py
  [[ $output == $'n1 --nproc_per_node=2: 0,1\nn2 --nproc_per_node=2: 0,1' ]] || fail "$(cat out)"
}

@test "in an interactive step, which holds the CPUs of its job" {
  run -0 as_tester srun -N1 -n1 --cpus-per-task=2 --gpus=2 timeout 60 "$HPCBOOT_BIN" run -- ./rank.sh
  [[ $output == *'n1 0 of 1: 0,1'* ]] || fail "$output"
  # The daemon on n2 is started by srun.
  run -0 as_tester sbatch --wait --output=out -N2 --ntasks-per-node=1 --wrap "srun -N1 -n1 timeout 60 \
    $HPCBOOT_BIN run --launcher mpirun -- ./rank.sh"
  [[ $(grep -c '^n[12] [01] of 2' out) == 2 ]] || fail "$(cat out)"
}

@test "a job whose CPUs another step holds: the end after --timeout says so" {
  as_tester sbatch --wait --output=out --ntasks=1 --wrap "srun sleep 40 & sleep 2
    $HPCBOOT_BIN run --timeout 3 -- ./rank.sh; echo code \$?" >job || true
  grep -q 'srun has started no rank within 3 s' out && grep -qx 'code 32' out || fail "$(cat out)"
}
