#!/usr/bin/env bats
# `hpcboot run --silence` on several hosts: over ssh, over mpirun, and in jobs of Slurm.
# shellcheck disable=SC2031,SC2154 # run sets output in the test's own shell

load helper

setup_file() {
  start_for_show -n 2
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  type -P gdb >/dev/null || skip "gdb is not here"
  enter_shared_folder
  printf '%s\n' 'n1 slots=2' 'n2 slots=1' >hosts
}

teardown() {
  end_jobs
  "$CLUSTER" on n0 scancel --user tester
}

# seen FILE: the stacks of each of three ranks, which sleep, were printed on its host; then the run was ended.
seen() {
  local rank hosts=(n1 n1 n2)
  grep -q '^hpcboot run: no rank has written anything for 2 s: printing the stacks of all ranks, then ending the run$' "$1" || fail "$(cat "$1")" || return
  for rank in 0 1 2; do
    grep -q "^rank $rank on ${hosts[rank]}: stacks of process [0-9]* (sleep), by gdb:$" "$1" || fail "$(cat "$1")" || return
  done
  [[ $(grep -c '^#0 .*sleep' "$1") == 3 ]] || fail "$(cat "$1")" || return
  grep -q 'error 32 (deadline_exceeded)$' "$1" || fail "$(cat "$1")"
}

on_lab_hosts() {
  run "$CLUSTER" as tester n1 timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" --silence 2 -- sleep 1000
  [[ $status == 32 ]] || fail "$output"
  printf '%s\n' "$output" >out
  seen out
}

@test "--hostfile, over ssh" { on_lab_hosts ssh; }
@test "--hostfile, over mpirun" { on_lab_hosts mpirun; }

in_a_job() {
  printf '#!/bin/bash\n%s run --launcher %s --silence 2 -- sleep 1000\necho "exit code $?"\n' "$HPCBOOT_BIN" "$1" >job.sh
  run -0 as_tester timeout 90 sbatch --wait --output=out -N2 -n3 job.sh
  seen out
  [[ $(tail -n 1 out) == "exit code 32" ]] || fail "$(cat out)"
}

@test "sbatch: by srun" { in_a_job srun; }
@test "sbatch: by mpirun" { in_a_job mpirun; }

# All processes of the job are stopped, `run` as well.
@test "a job that is suspended is not silent" {
  # shellcheck disable=SC2016 # the rank expands it
  printf '#!/bin/bash\n%s run --silence 6 -- sh -c "%s"\n' "$HPCBOOT_BIN" \
    'touch begun; until [ -e go ]; do sleep 0.1; done; echo over' >job.sh
  id=$(as_tester sbatch --parsable --output=out -N2 -n2 job.sh)
  await test -e begun
  sleep 3 # time for `run` to ask and to get the answer
  "$CLUSTER" on n0 scontrol suspend "$id"
  sleep 8
  "$CLUSTER" on n0 scontrol resume "$id"
  sleep 2 # time in which it would end them
  touch go
  over() { [[ $(grep -c over out) == 2 ]]; }
  await over || fail "$(cat out)"
  ! grep -q 'no rank' out || fail "$(cat out)"
}
