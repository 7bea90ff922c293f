#!/usr/bin/env bats
# `hpcboot run --stage` on this machine: by its own agent, by mpirun of Open MPI, and by MPICH's mpirun, Hydra.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi
load ../support/run_launchers

setup_file() {
  find_run_launchers
}

setup() {
  be_nowhere_special
  mkdir disk "data set" "data set/sub"
  echo one >"data set/a"
  echo two >"data set/sub/b"
  export TMPDIR=$PWD/disk
}

teardown() {
  local process
  for process in $(keepers); do kill -CONT "$process" || true; done
  end_jobs
}

# by LAUNCHER: from now on "${by[@]}" is `hpcboot run` by this launcher: local, mpirun (Open MPI's) or hydra.
by() {
  local launcher
  use_launcher "$1"
  by=("$HPCBOOT" run --launcher "$launcher")
}

# The processes that have a file below the disk open: those that copy, or wait until the copy is no longer used.
keepers() {
  local process
  for process in $(find /proc/[0-9]*/fd -lname "$BATS_TEST_TMPDIR/disk/*" 2>/dev/null | cut -d/ -f3 | sort -u); do
    ! grep -qx hpcboot-stage "/proc/$process/comm" || echo "$process"
  done
}

# Nothing is on the disk except files of launchers and of hpcboot itself.
is_empty() { ! compgen -G 'disk/hpcboot-stage-*' >/dev/null; }

# have_started N: the ranks 0 … N-1 have written their process ids.
have_started() {
  local rank
  for ((rank = 0; rank < $1; ++rank)); do [ -s "pid.$rank" ] || return 1; done
}

# start N ARGUMENT…: `hpcboot run` with the data in the background, as $job, until N ranks are there.
start() {
  local ranks=$1
  shift
  "${by[@]}" -n "$ranks" --stage "data set" "$@" >out 2>err 3>&- &
  job=$!
  await have_started "$ranks" || fail "$(cat err)"
}

waiting='echo $HPCBOOT_STAGED >staged.$RANK; echo $$ >pid.$RANK; exec sleep 100'
# Only SIGKILL ends it.
stubborn='trap "" HUP INT TERM; echo $$ >pid.$RANK; while :; do sleep 1; done'

ends_with() {
  local status=0
  wait "$job" || status=$?
  [ "$status" -eq "$1" ] || fail "exit code $status" "$(cat out err)"
}

copied_once() {
  by "$1"
  cat >reads.sh <<'SH'
[ "$HPCBOOT_STAGED" = "$1" ] && [ "$2" = "--data=$1/sub:$1" ] && diff -r "$3" "$1" || exit 1
stat -c '%a %U' "$1/../.."
echo "$1"
SH
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 4 --stage "data set/" -- sh "$PWD/reads.sh" '{staged}' '--data={staged}/sub:{staged}' "$PWD/data set"
  [ "$(sort -u <<<"$output" | wc -l)" -eq 2 ] || fail "$output"
  [ "$(grep -c "^700 $(id -un)$" <<<"$output")" -eq 4 ] || fail "$output"
  [[ $(grep staged <<<"$stderr") =~ ^"note: $(hostname): 8 bytes staged to $PWD/disk/hpcboot-stage-$(id -u)-"[0-9a-f]+-.*" in "[0-9.]+" s"$ ]] || fail "$stderr"
  is_empty || fail "$(find disk)"
  # A single file keeps its name.
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 2 --stage "data set/a" -- sh -c 'basename "$0"; cat "$HPCBOOT_STAGED"' '{staged}'
  [ "$(sort <<<"$output")" = $'a\na\none\none' ] || fail "$output"
}

@test "local: the data is copied once for 4 ranks, and removed at the end" { copied_once local; }
@test "mpirun: the data is copied once for 4 ranks, and removed at the end" { copied_once mpirun; }
@test "Hydra: the data is copied once for 4 ranks, and removed at the end" { copied_once hydra; }

@test "without --stage {staged} is a word like any other" {
  for launcher in local mpirun; do
    by $launcher
    run -0 timeout 60 "${by[@]}" -n 1 -- sh -c 'echo "$0 ${HPCBOOT_STAGED-none}"' '{staged}'
    [ "$output" = "{staged} none" ] || fail "$output"
  done
}

@test "a second --stage is an error: one of two would be left out" {
  run -2 "$HPCBOOT" run --stage "data set" --stage "data set/a" -- touch started
  [[ $output == *"--stage is given several times; it takes one PATH"* ]] || fail "$output"
  [ ! -e started ] && is_empty
}

@test "--dry-run says what would be staged, and copies nothing" {
  run -0 "$HPCBOOT" run --dry-run --stage "data set" -- cat '{staged}'
  [[ $output == *"stage:    $PWD/data set, to each host's own disk"* ]] || fail "$output"
  is_empty
}

@test "--torchrun: the program's arguments have the path, too" {
  mkdir bin
  printf '#!/bin/sh\nfor word; do echo "$word"; done\ncat "$HPCBOOT_STAGED/a"\n' >bin/torchrun
  chmod +x bin/torchrun
  for launcher in local mpirun; do
    by $launcher
    run -0 --separate-stderr env PATH="$PWD/bin:$PATH" timeout 60 "${by[@]}" --torchrun --ranks-per-node 2 --stage "data set" -- ./program '{staged}/a'
    [[ $output == *"--nproc_per_node=2"*"./program"$'\n'"$PWD/disk/hpcboot-stage-"*"/data/data set/a"$'\none' ]] || fail "$launcher: $output"
    is_empty
  done
}

removed_after_failure() {
  by "$1"
  run -7 timeout 60 "${by[@]}" -n 3 --stage "data set" -- sh -c "case \$RANK in 1) while [ ! -e pid.0 ]; do sleep 0.05; done; exit 7 ;; esac; $stubborn"
  await is_empty || fail "$(find disk)"
}

@test "local: removed when a rank has failed" { removed_after_failure local; }
@test "mpirun: removed when a rank has failed, and the others were killed" { removed_after_failure mpirun; }
@test "Hydra: removed when a rank has failed, and the others were killed" { removed_after_failure hydra; }

removed_after_signals() {
  by "$1"
  start 2 -- sh -c "$waiting"
  [ -e "$(cat staged.1)/sub/b" ]
  kill -TERM "$job"
  ends_with 143
  await is_empty || fail "$(find disk)"
  rm pid.*
  start 2 -- sh -c "$waiting"
  kill -KILL "$job"
  ends_with 137
  await is_empty || fail "$(find disk)"
}

@test "local: removed after SIGTERM and after kill -9 of run" { removed_after_signals local; }
@test "mpirun: removed after SIGTERM and after kill -9 of run" { removed_after_signals mpirun; }
@test "Hydra: removed after SIGTERM and after kill -9 of run" { removed_after_signals hydra; }

# copying: `run` is in the background, as $job, and the process that copies was stopped in the middle.
copying() {
  truncate -s 1G "data set/large"
  "${by[@]}" -n 2 --stage "data set" -- sh -c 'touch started' >out 2>err 3>&- &
  job=$!
  await compgen -G 'disk/hpcboot-stage-*/part/*/large'
  local process
  for process in $(keepers); do kill -STOP "$process"; done
  ! compgen -G 'disk/hpcboot-stage-*/data' || fail "the copy was faster than this test"
}

go_on_copying() {
  local process
  for process in $(keepers); do kill -CONT "$process"; done
}

ended_while_copying() {
  by "$1"
  copying
  kill "-$2" "$job"
  [ "$2" != TERM ] || sleep 1 # the parents now wait for the removal
  go_on_copying
  ends_with "$3"
  await is_empty || fail "$(find disk)"
  [ ! -e started ]
}

@test "local: SIGTERM ends the copy, and no rank starts" { ended_while_copying local TERM 143; }
@test "mpirun: SIGTERM ends the copy, and no rank starts" { ended_while_copying mpirun TERM 143; }
@test "local: kill -9 of run ends the copy, and no rank starts" { ended_while_copying local KILL 137; }
@test "mpirun: kill -9 of run ends the copy, and no rank starts" { ended_while_copying mpirun KILL 137; }

# The copy takes longer than the timeout of the rendezvous.
long_copy() {
  by "$1"
  by+=(--timeout 3)
  copying
  sleep 5
  go_on_copying
  ends_with 0
  [ -e started ]
  is_empty
}

@test "local: --timeout does not count the copy" { long_copy local; }
@test "mpirun: --timeout does not count the copy" { long_copy mpirun; }

# Sockets of `run` must not take their numbers.
outputs_closed() {
  by "$1"
  status=0
  timeout 30 "${by[@]}" -n 2 --stage "data set" -- sh -c 'echo $RANK; cat "$HPCBOOT_STAGED/a" >read.$RANK' >&- 2>&- || status=$?
  [ "$status" -eq 0 ] || fail "exit code $status"
  [ "$(cat read.0 read.1)" = $'one\none' ]
  await is_empty
}

@test "local: standard output and error may be closed" { outputs_closed local; }
@test "mpirun: standard output and error may be closed" { outputs_closed mpirun; }
@test "Hydra: standard output and error may be closed" { outputs_closed hydra; }

@test ".. behind a link is above what it leads to" {
  mkdir -p far/away
  echo right >far/a
  echo wrong >a
  ln -s far/away link
  run -0 --separate-stderr timeout 60 "$HPCBOOT" run -n 1 --stage link/../a -- cat '{staged}'
  [ "$output" = right ] || fail "$output"
}

@test "two runs at once have a copy each" {
  by local
  start 1 -- sh -c "$waiting"
  first=$(cat staged.0)
  echo new >"data set/a"
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 1 --stage "data set" -- sh -c 'cat "$HPCBOOT_STAGED/a"; echo "$HPCBOOT_STAGED"'
  [ "${lines[0]}" = new ] && [ "${lines[1]}" != "$first" ] || fail "$output"
  [ "$(cat "$first/a")" = one ] # the second run has not removed it either
}

@test "what processes left that were killed all at once goes with the next run" {
  by local
  start 1 -- sh -c "$waiting"
  # In an order that leaves no process to remove the copy.
  mapfile -t family < <(keepers && descendants "$job")
  kill -KILL "${family[@]}" "$job"
  ends_with 137
  left=$(cat staged.0)
  [ -e "$left" ]
  run -0 timeout 60 "${by[@]}" -n 1 --stage "data set/a" -- true
  [ ! -e "$left" ]
  is_empty || fail "$(find disk)"
}

refused() {
  by "$1"
  run -27 timeout 60 "${by[@]}" -n 2 --stage nowhere -- touch started
  [[ $output == *"$(hostname): $PWD/nowhere cannot be staged: No such file or directory"* ]] || fail "$output"
  mkfifo "data set/pipe"
  run -27 timeout 60 "${by[@]}" -n 2 --stage "data set" -- touch started
  [[ $output == *"$(hostname): $PWD/data set/pipe cannot be staged: it is a device, a pipe or a socket"* ]] || fail "$output"
  if truncate -s 15T large; then
    run -42 timeout 60 "${by[@]}" -n 2 --stage large -- touch started
    [[ $output =~ large\ has\ 16\.4\ TB,\ and\ $PWD/disk\ has\ room\ for\ [0-9.]+\ [kMGT]B ]] || fail "$output"
  fi
  await is_empty || fail "$(find disk)"
  [ ! -e started ]
}

@test "local: no such path, no file, no room: nothing is started" { refused local; }
@test "mpirun: no such path, no file, no room: nothing is started" { refused mpirun; }
