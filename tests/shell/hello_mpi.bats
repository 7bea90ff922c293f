#!/usr/bin/env bats
# The output of build/bin/hello_mpi, and that it neither hangs nor mistakes singletons for a job.

load ../support/open_mpi

setup() {
  hello=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hello_mpi
  [ -x "$hello" ] || skip "hello_mpi is not built: it needs MPI, Boost and fmt"
  use_open_mpi
}

mpirun_is_open_mpi() { mpirun --version 2>/dev/null | grep -q 'Open MPI'; }

@test "two ranks of one host: who is where, and their link" {
  mpirun_is_open_mpi || skip "no mpirun of Open MPI on this machine"
  run mpirun --hostfile "$BATS_TEST_DIRNAME/../../setup/hosts.txt" "$hello" --size 1 </dev/null
  [ "$status" -eq 0 ]
  [ "${lines[0]%%, launcher *}" = "2 ranks" ]
  host=$(hostname)
  [[ $output =~ $host" "+0" "+0" " ]]
  [[ $output =~ $host" "+1" "+1" " ]]
  [[ $output =~ $host" "+$host" "+[0-9.]+" "+[0-9]+$'\n' ]]
  [[ ${lines[-1]} =~ ^"ring of 2 ranks, all at once: "[0-9]+" MiB/s each"$ ]]
}

@test "alone it is one rank of one" {
  run "$hello" </dev/null
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "1 rank, launcher single"* ]]
  [[ $output != *ring* ]]
}

@test "ranks that each believe to be alone are an error, not two jobs" {
  mpirun_is_open_mpi && command -v mpiexec.hydra >/dev/null || skip "needs Open MPI and MPICH's mpiexec.hydra"
  run mpiexec.hydra -n 2 "$hello" </dev/null
  [ "$status" -eq 22 ]
  [[ $output == *"hydra started 2 processes, but each is rank 0 of 1"* ]]
  [[ $output != *"rank, launcher"* ]]
}

@test "a rank that does not come is waited for no longer than --timeout" {
  mpirun_is_open_mpi || skip "no mpirun of Open MPI on this machine"
  run timeout 60 mpirun --oversubscribe -np 1 "$hello" --timeout 2 : -np 1 sleep 50 </dev/null
  [ "$status" -eq 32 ]
  [[ $output == *"not done after 2 s; the last step was starting MPI"* ]]
  [[ $output == *"setup/check-hosts"* ]]
}

@test "usage" {
  run "$hello" --help
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "Print where each rank runs, and how fast the hosts communicate." ]]
  [[ $output == *"Examples:"*"--timeout SECONDS "*" [60]"*"--size MIB "*" [4]"*"-h, --help "*"Exit codes:"* ]]
  run env LC_ALL=C.UTF-8 grep -nE '.{81}' <<<"$output"
  [ "$status" -eq 1 ]
  run "$hello" --version
  [[ $output == "hello_mpi "* ]]
  for words in "--timeout 0" "--size 0" "--size 1025" "--size x" "--siz 1" more; do
    # shellcheck disable=SC2086 # words are words
    run "$hello" $words
    [ "$status" -eq 2 ]
  done
}
