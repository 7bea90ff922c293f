#!/usr/bin/env bats
# The program `trainer`, and the part with LibTorch, which replaces it once the command line is right.
# shellcheck disable=SC2154 # $trainer is set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

# is_loading PID: the part with LibTorch has taken over.
is_loading() { [[ $(readlink "/proc/$1/exe") == */libexec/hpcboot/trainer ]]; }

# settings PID: its environment, by line.
settings() { tr '\0' '\n' <"/proc/$1/environ"; }

@test "help, wrong options and verbs that need no LibTorch do not load it" {
  # Without the addresses, whose digits can be c10.
  ldd "$trainer" | sed 's/ (0x[0-9a-f]*)$//' >libraries
  grep -qF libc.so libraries
  run -1 grep -E 'torch|c10|mkl|blas' libraries
  mkdir -p alone/bin
  cp "$trainer" alone/bin
  for arguments in --help --version "convert --help" "inspect --help" "estimate --model mnistnet" manual; do
    # shellcheck disable=SC2086 # words, meant to be split
    run -0 alone/bin/trainer $arguments
  done
  run -0 alone/bin/trainer digits drawn --train 4 --test 2
  for arguments in --bogus "--epochs 0" "--zero 4" "convert one" "inspect --images -1 x"; do
    # shellcheck disable=SC2086 # words, meant to be split
    run -2 alone/bin/trainer $arguments
  done
  run -2 alone/bin/trainer convrt a b
  [[ $output == "trainer: unknown verb 'convrt'; did you mean convert? trainer --help lists the verbs" ]]
}

@test "without the part with LibTorch, the error names its file" {
  mkdir -p alone/bin
  cp "$trainer" alone/bin
  # shellcheck disable=SC2086 # options, meant to be split
  run -30 alone/bin/trainer $small
  [[ $output == *"'$PWD/alone/libexec/hpcboot/trainer', the part of the trainer with LibTorch: No such file"* ]]
}

@test "a configuration that comes from a pipe is read once" {
  # shellcheck disable=SC2086 # options, meant to be split
  run -0 "$trainer" $small --config <(echo epochs = 2)
  [ "$(value runs/* "['config']['epochs']")" = 2 ]
  # shellcheck disable=SC2086 # options, meant to be split
  run -2 "$trainer" $small --config <(echo epochs = 0)
  [[ $output == *"--epochs must be at least 1"* ]]
}

@test "OpenMP threads spin for a limited time, unless the user sets how they wait" {
  unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --epochs 1000 --runs-dir runs >out 2>&1 3>&- &
  await is_loading $!
  settings $! | grep -q '^GOMP_SPINCOUNT=[0-9]*$'
  settings $! | grep -q '^KMP_BLOCKTIME=1$'
  # shellcheck disable=SC2086 # options, meant to be split
  OMP_WAIT_POLICY=active "$trainer" $small --epochs 1000 --runs-dir runs2 >out 2>&1 3>&- &
  await is_loading $!
  settings $! >all
  run -1 grep 'GOMP_SPINCOUNT\|KMP_BLOCKTIME' all
}

@test "OpenBLAS uses the vector instructions of this processor, also one that it does not know" {
  ldd "$(dirname "$trainer")/../libexec/hpcboot/trainer" | grep -q openblas || skip "this LibTorch does not use OpenBLAS"
  grep -qw avx2 /proc/cpuinfo || skip "this processor has no AVX2"
  unset OPENBLAS_CORETYPE
  # shellcheck disable=SC2086 # options, meant to be split
  OPENBLAS_VERBOSE=2 run -0 "$trainer" $small
  [[ $output == *"Core: "@(SkylakeX|Haswell)* ]]
  # shellcheck disable=SC2086 # options, meant to be split
  OPENBLAS_CORETYPE=Nehalem OPENBLAS_VERBOSE=2 run -0 "$trainer" $small
  [[ $output == *"Core: Nehalem"* ]]
}

@test "OMP_NUM_THREADS is the number of threads" {
  for threads in 1 2; do
    # shellcheck disable=SC2086 # options, meant to be split
    OMP_NUM_THREADS=$threads "$trainer" $small --threads 0 --runs-dir "runs$threads"
    [ "$(value "runs$threads"/* "['config']['threads']")" = "$threads" ]
  done
}

@test "a warning that arrives while LibTorch is loaded ends the run with a checkpoint" {
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --epochs 1000 >out 2>&1 3>&- &
  await is_loading $!
  kill -USR1 $!
  status=0
  wait $! || status=$?
  [ "$status" -eq 46 ]
  ls runs/*/checkpoints/*
}

# together OPTIONS OPTIONS: rank 0 with the first ones, rank 1 with the others.
together() {
  # shellcheck disable=SC2086 # options, meant to be split
  run mpirun --oversubscribe -np 1 "$trainer" $small $1 : -np 1 "$trainer" $small $2
}

@test "ranks with other options or data are refused, and what differs is named" {
  need_mpirun
  together "--lr 0.1" "--lr 0.2 --seed 4"
  [ "$status" -eq 43 ]
  [[ $output == *"rank 1 of 2: --lr is 0.2, but 0.1 on rank 0; --seed is 4, but 1234 on rank 0"* ]] || fail "$output"
  together "--zero 1" "--checkpoint-every 1s"
  [ "$status" -eq 43 ]
  [[ $output == *"--checkpoint-every is 1s, but 1e on rank 0; --zero is 0, but 1 on rank 0"* ]] || fail "$output"
  "$trainer" digits other --train 480 --test 100
  together "" "--data other"
  [ "$status" -eq 43 ]
  [[ $output == *"rank 1 of 2: --data is 480 "*", but 640 "*" on rank 0"* ]] || fail "$output"
  run -1 compgen -G 'runs/*'
}

@test "each rank may have the same data in a place of its own, and threads of its own" {
  need_mpirun
  cp -r "$data" copy
  together "" "--data copy --threads 2"
  [ "$status" -eq 0 ] || fail "$output"
}
