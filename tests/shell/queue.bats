#!/usr/bin/env bats
# hpcboot jobs, logs and cancel with a scheduler whose commands are fakes; tests/cluster/submit.bats asks real ones.

bats_require_minimum_version 1.5.0

setup() {
  ROOT=$(realpath "$BATS_TEST_DIRNAME/../..")
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$ROOT/build/bin}")/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  "$HPCBOOT" jobs --help >/dev/null 2>&1 || skip "this build has no hpcboot jobs"
  export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
  unset FLUX_URI
  cd "$BATS_TEST_TMPDIR" || return
  mkdir bin
  PATH=$PWD/bin:$PATH
}

# fake NAME LINE…: a command of the scheduler.
fake() {
  printf '%s\n' '#!/bin/sh' "${@:2}" >"bin/$1"
  chmod +x "bin/$1"
}

@test "LSF: an array is cancelled as a whole, whichever of its elements have ended" {
  fake lsid 'echo "My cluster name is c"'
  fake bkill "echo \"\$@\" >'$PWD/killed'"
  fake bjobs 'printf "%s\n" "12|1|DONE|-|1|5 second(s)|-|h1|-|/home/me|-|x" "12|2|RUN|-|1|5 second(s)|0:59 L|h1|-|/home/me|-|x" "12|3|PEND|-|-|-|-|-|-|/home/me|-|x"'
  run -0 "$HPCBOOT" cancel --scheduler lsf 12
  [ "$output" = "job 12 is cancelled" ]
  [ "$(cat killed)" = 12 ]
}

@test "logs -f of a job that has ended without output does not advise to wait for it" {
  fake scontrol 'case "$*" in *config) echo "ClusterName = c" ;; *) echo "JobId=7 JobName=x JobState=FAILED ExitCode=7:0 StdOut=/nowhere/7.out Power=" ;; esac'
  fake squeue 'echo x'
  run -27 "$HPCBOOT" logs --scheduler slurm -f 7
  [[ $output == *"job 7 has ended: failed, exit code 7; it has no output"$'\n'*"/nowhere/7.out"$'\n'*"hpcboot jobs 7 shows more"* ]]
  fake scontrol 'case "$*" in *config) echo "ClusterName = c" ;; *) echo "JobId=7 JobName=x JobState=PENDING Reason=Priority" ;; esac'
  run -27 "$HPCBOOT" logs --scheduler slurm 7
  [[ $output == *"job 7 has no output yet: it is pending: Priority"*"hpcboot logs -f 7 waits for it"* ]]
}
