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
