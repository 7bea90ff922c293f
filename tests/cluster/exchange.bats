#!/usr/bin/env bats
# Values that ranks exchange over PMIx, on several hosts and under every launcher that supports it. The program
# (tests/mpi/exchange_test.cpp) checks every rank's value at every rank; its last line has the counts. It runs twice in
# each launch, as PMIx's servers keep values of the first run.

load helper

setup_file() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/tests/bin/exchange_test")}
  [[ -x $HPCBOOT_BIN ]]
}

setup() {
  "$CLUSTER" down
}

teardown() {
  "$CLUSTER" down
}

# exchanges UP_OPTIONS…: the program succeeds under each launcher on two hosts.
exchanges() {
  local form
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")" "$@"
  enter_shared_folder
  for form in srun_pmix_2x2 sbatch_mpirun_2x2 ssh_mpirun_2x2; do
    rm -f n*.*
    as_tester timeout 40 "$BATS_TEST_DIRNAME/lib/launch.sh" $form "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
      sh -c '"$0" pmix 1 && "$0" pmix 2' "$HPCBOOT_BIN"
    [[ $(cat n*.*) == *" 4 ranks, 0 failures"*$'\n'*" 4 ranks, 0 failures" ]] || fail "$form: $(cat n*.*)"
    [[ $(printf '%s\n' n*.* | cut -d. -f1 | sort | uniq -c | xargs) == "2 n1 2 n2" ]] || fail "$form: ranks on other hosts"
  done
}

@test "srun --mpi=pmix, sbatch and mpirun, mpirun over ssh" { exchanges; }
@test "the same with docker0 at one address on every host, whose own name means 127.0.1.1" {
  exchanges --decoy-docker0 --loopback-name
}
