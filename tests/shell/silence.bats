#!/usr/bin/env bats
# `hpcboot run --silence`: if no rank writes anything, all are ended after their stacks were printed.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi
load ../support/run_launchers

setup_file() {
  find_run_launchers
  cat >"$BATS_FILE_TMPDIR/hang.c" <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void waits_for_nobody(void) { for (;;) pause(); }
int main(void) { puts("begun"); fflush(stdout); waits_for_nobody(); }
C
  cc -g -O0 -o "$BATS_FILE_TMPDIR/hang" "$BATS_FILE_TMPDIR/hang.c"
}

setup() {
  be_nowhere_special
}

teardown() { end_jobs; }

# by LAUNCHER: from now on "${by[@]}" is `hpcboot run` with two ranks by this launcher: local, mpirun (Open MPI's) or
# hydra.
by() {
  local launcher
  use_launcher "$1"
  by=("$HPCBOOT" run --launcher "$launcher" -n 2)
}

# only PROGRAM…: from now on the run has a PATH with only these and what the tests need.
only() {
  local program
  mkdir -p bin
  for program in sh mpirun orted ssh hydra_pmi_proxy "$@"; do
    [ -z "$(type -P "$program")" ] || ln -sf "$(type -P "$program")" bin/
  done
  by=(env "PATH=$PWD/bin" "${by[@]}")
}

announced='hpcboot run: no rank has written anything for 1 s: printing the stacks of all ranks, then ending the run'

# silent PROGRAM…: ranks that run it are ended for their silence.
silent() {
  run --separate-stderr timeout 90 "${by[@]}" --silence 1 --output-dir logs -- "$@"
  [ "$status" -eq 32 ] || fail "exit code $status" "$output" "$stderr" || return
  [[ $stderr == *"$announced"* ]] || fail "$stderr" || return
  [[ $stderr == *"found:    no rank has written anything for 1 s"* ]] || fail "$stderr" || return
  [[ $stderr != *"failed first"* ]] || fail "$stderr"
}

stacks_by() {
  local debugger=$1 rank
  shift
  type -P "$debugger" >/dev/null || skip "$debugger is not here"
  "$debugger" --version >/dev/null 2>&1 || skip "$debugger does not run"
  only "$debugger"
  silent "$@"
  for rank in 0 1; do
    [[ $stderr =~ "rank $rank on "[^:]+": stacks of process "[0-9]+" (hang), by $debugger:" ]] || fail "$stderr" || return
    grep -q '^#[0-9]* .*waits_for_nobody' "logs/rank_000$rank.err" || fail "$(cat logs/*)" || return
  done
}

@test "local: gdb names the function that a program is in" { by local && stacks_by gdb "$BATS_FILE_TMPDIR/hang"; }
@test "mpirun: gdb names the function that a program is in" { by mpirun && stacks_by gdb "$BATS_FILE_TMPDIR/hang"; }
@test "Hydra: gdb names the function that a program is in" { by hydra && stacks_by gdb "$BATS_FILE_TMPDIR/hang"; }
@test "local: eu-stack does so if there is no gdb" { by local && stacks_by eu-stack "$BATS_FILE_TMPDIR/hang"; }
@test "mpirun: eu-stack does so if there is no gdb" { by mpirun && stacks_by eu-stack "$BATS_FILE_TMPDIR/hang"; }

@test "local: the program that a script waits for is examined, not the shell" {
  by local
  stacks_by gdb sh -c "'$BATS_FILE_TMPDIR/hang'; true"
  [[ $stderr != *"(sh)"* ]] || fail "$stderr"
}

# Two ranks on this host are two workers of one torchrun, which gets no signal but the request to end.
torchrun_workers() {
  type -P gdb >/dev/null || skip "gdb is not here"
  mkdir bin
  printf '#!/bin/sh\n"%s" & "%s" & wait\n' "$BATS_FILE_TMPDIR/hang" "$BATS_FILE_TMPDIR/hang" >bin/torchrun
  chmod +x bin/torchrun
  PATH=$PWD/bin:$PATH
  by "$1"
  by+=(--torchrun)
  silent train.py
  [ "$(grep -c '(hang), by gdb:$' <<<"$stderr")" -eq 2 ] || fail "$stderr"
  [ "$(grep -c 'stacks of' <<<"$stderr")" -eq 3 ] || fail "$stderr" # with the announcement
}

@test "local: --torchrun: the workers are examined" { torchrun_workers local; }
@test "mpirun: --torchrun: the workers are examined" { torchrun_workers mpirun; }

# Python's faulthandler answers SIGQUIT. Rank 1 is terminated by it at another time, so rank 0 has time to answer.
quit_instead() {
  by "$1"
  only
  cat >hang.py <<'PY'
import faulthandler, os, signal, time
if os.environ["RANK"] == "0":
    faulthandler.register(signal.SIGQUIT)
def waits_for_nobody():
    while True:
        time.sleep(1000)
waits_for_nobody()
PY
  silent "$(python3 -c 'import sys; print(sys.executable)')" hang.py
  [[ $stderr =~ "rank 0 on "[^:]+": no stacks of process "[0-9]+" ("[^\)]+"): no gdb or eu-stack found" ]] || fail "$stderr"
  grep -q 'in waits_for_nobody$' logs/rank_0000.err || fail "$(cat logs/*)" "$stderr"
}

@test "local: without a debugger the ranks get SIGQUIT" { quit_instead local; }
@test "mpirun: without a debugger the ranks get SIGQUIT" { quit_instead mpirun; }
@test "Hydra: without a debugger the ranks get SIGQUIT" { quit_instead hydra; }

# Rank 1 says nothing at all.
one_speaks() {
  by "$1"
  run -0 --separate-stderr timeout 90 "${by[@]}" --silence 3 -- \
    sh -c 'if [ $RANK = 1 ]; then sleep 9; else for i in 1 2 3 4; do sleep 2; echo $i; done; fi'
  [ "$output" = $'1\n2\n3\n4' ] || fail "$output" "$stderr"
}

@test "local: ranks are left alone while one of them speaks" { one_speaks local; }
@test "mpirun: ranks are left alone while one of them speaks" { one_speaks mpirun; }
@test "Hydra: ranks are left alone while one of them speaks" { one_speaks hydra; }

# stopped LAUNCHER SECONDS
stopped() {
  by "$1"
  "${by[@]}" --silence 8 -- sh -c 'echo begun; until [ -e "go on" ]; do sleep 0.1; done' >out 2>err 3>&- &
  job=$!
  await grep -q begun out || fail "$(cat err)"
  sleep 4 # time for it to notice
  kill -STOP "$job"
  sleep 10
  kill -CONT "$job"
  sleep "$2" # time in which it would end them
  touch "go on"
  status=0
  wait "$job" || status=$?
  [ "$status" -eq 0 ] || fail "exit code $status" "$(cat out err)"
}

@test "local: the time in which the run was stopped does not count" { stopped local 2; }
@test "mpirun: the time in which the run was stopped does not count" { stopped mpirun 4.5; }

@test "local: ranks whose output is not read are not silent" {
  run -0 bash -c '"$HPCBOOT" run -n 1 --silence 2 -- head -c 10000000 /dev/zero | { sleep 6; wc -c; }; exit ${PIPESTATUS[0]}'
  [ "$output" -eq 10000000 ] || fail "$output"
}

@test "without --silence, and before any rank has started, nobody is ended" {
  by local
  run -0 timeout 60 "${by[@]}" -- sleep 3
  run -0 timeout 60 "$HPCBOOT" run --help
  [[ $output == *"--silence SECONDS"* ]]
}
