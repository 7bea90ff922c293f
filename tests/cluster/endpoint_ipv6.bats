#!/usr/bin/env bats
# Hosts without IPv4 between them: ranks meet at IPv6 addresses and at names that resolve to one. Hydra is not tested:
# MPICH 4.0's supports only IPv4.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output and stderr in the test's own shell

load helper

setup_file() {
  start_for_show --ipv6-only
  export MEET=$BATS_TEST_DIRNAME/lib/meet.py ALL_REDUCE=$BATS_TEST_DIRNAME/lib/all_reduce.py
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

# meets ADDRESS LAUNCHER…: ADDRESS is where the ranks meet according to check.
meets() {
  run -0 --separate-stderr as_tester timeout 60 "${@:2}" "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $(sort <<< "$output") == $'0 fd77::11 2\n1 fd77::11 2' ]] || fail "$output $stderr"
  run -0 --separate-stderr as_tester timeout 60 "${@:2}" "$HPCBOOT_BIN" check
  [[ $output == *"master $1:"* && $output =~ eth0\ +fd77::11 && $output =~ eth0\ +fd77::12 ]] || fail "$output $stderr"
}

@test "there is no IPv4 between the hosts" {
  run -0 "$CLUSTER" as tester n1 ip -o -4 addr
  [[ $output == *127.0.0.1* && $output != *eth0* ]]
}

@test "srun" { meets n1 srun -N2 -n2; }
@test "srun --mpi=pmi2" { meets n1 srun --mpi=pmi2 -N2 -n2; }
@test "srun --mpi=pmix" { meets n1 srun --mpi=pmix -N2 -n2; }
@test "mpirun over ssh: ranks tell each other an IPv6 address" { meets '[fd77::11]' mpirun.openmpi --host n1:1,n2:1; }

@test "an address that the user gives, with brackets and without" {
  for address in fd77::11 '[fd77::11]'; do
    meets '[fd77::11]' env HPCBOOT_MASTER_ADDR="$address" srun -N2 -n2
    meets '[fd77::11]' env MASTER_ADDR="$address" srun -N2 -n2
  done
  run as_tester env MASTER_ADDR=fd77::12 timeout 60 srun -N2 -n2 "$HPCBOOT_BIN" check --timeout 2
  [[ $status != 0 && $output == *"error 34 "*"MASTER_ADDR=fd77::12"* ]] || fail "$status $output"
}

@test "env gives what a shell and a program take" {
  run -0 --separate-stderr as_tester mpirun.openmpi --host n1:2 "$HPCBOOT_BIN" env
  [[ $output == *"export MASTER_ADDR=fd77::11"* ]]
}

@test "PyTorch all-reduces over two hosts" {
  "$CLUSTER" as tester n0 /usr/bin/python3 -c 'import torch' 2> /dev/null || skip "/usr/bin/python3 has no torch"
  run -0 --separate-stderr as_tester timeout 90 mpirun.openmpi --host n1:1,n2:1 -x OMP_NUM_THREADS=1 "$HPCBOOT_BIN" exec -- /usr/bin/python3 "$ALL_REDUCE"
  [[ $(grep ' of ' <<< "$output" | sort) == $'0 of 2: 3\n1 of 2: 3' ]] || fail "$output $stderr"
}
