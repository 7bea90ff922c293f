#!/usr/bin/env bats
# hpcboot run --study: a program on several numbers of ranks.

bats_require_minimum_version 1.5.0
load ../support/background

setup() {
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() { end_jobs; }

# study OPTION… -- PROGRAM…: on this machine.
study() { timeout 120 "$HPCBOOT" run --launcher local --oversubscribe --no-prefix "$@"; }

@test "every number of ranks runs again and again, in turns, and a table shows the medians" {
  run --separate-stderr -0 study --study strong --ranks 1,2,3 --repeat 2 -- bash -c 'echo "rank $RANK of $WORLD_SIZE $1"' x '{ranks}'
  echo "$output"
  # shellcheck disable=SC2154 # set by run
  echo "$stderr"
  [ "$(grep -c '^rank 0 of 1 1$' <<<"$output")" -eq 2 ]
  [ "$(grep -c '^rank [01] of 2 2$' <<<"$output")" -eq 4 ]
  [ "$(grep -c '^rank [012] of 3 3$' <<<"$output")" -eq 6 ]
  [ "$(grep '^study: ' <<<"$stderr" | cut -d, -f1 | xargs)" = "study: 1 rank study: 2 ranks study: 3 ranks study: 1 rank study: 2 ranks study: 3 ranks" ]
  grep -qE '^ +1 +2 +0 +[0-9.]+ +[0-9.]+ +[0-9.]+ +1.00 +100%$' <<<"$stderr"
  grep -qE '^ +3 +2 +0 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+%$' <<<"$stderr"
}

@test "weak: the work grows with the ranks" {
  run --separate-stderr -0 study --study weak --ranks 1,3 --repeat 1 -- echo 'work={500*ranks}'
  [ "$(sort <<<"$output" | xargs)" = "work=1500 work=1500 work=1500 work=500" ]
}

@test "a run that fails is counted, the others go on, and its exit code is the study's" {
  # shellcheck disable=SC2016 # for the ranks' shell
  run --separate-stderr -7 study --study strong --ranks 1,2 --repeat 2 -- bash -c '[ "$WORLD_SIZE" = 1 ] || exit 7'
  echo "$stderr"
  grep -qE '^ +1 +2 +0 ' <<<"$stderr"
  grep -qE '^ +2 +0 +2 +- ' <<<"$stderr"
}

@test "a program that exits with 2 is no usage error of the study" {
  run --separate-stderr -2 study --study strong --ranks 1,2 --repeat 2 -- bash -c 'echo ran; exit 2'
  [ "$(grep -cx ran <<<"$output")" -ge 4 ]
  [ "$(grep -c '^study: ' <<<"$stderr")" -eq 4 ]
  grep -qE '^ +2 +0 +2 +- ' <<<"$stderr"
}

@test "products are computed before the first run" {
  run -2 study --study strong --ranks 1,2 -- touch ran '{9223372036854775807*ranks}'
  [[ $output == *"{9223372036854775807*ranks} is too large"* ]]
  [ ! -e ran ]
}

@test "a signal ends the run that is under way, and the study" {
  "$HPCBOOT" run --launcher local --study strong --ranks 1,2 -- bash -c 'echo started >>began; sleep 60' 2>said &
  await test -s began
  kill -TERM $!
  local code=0
  wait $! || code=$?
  cat said
  [ $code -eq 143 ]
  [ "$(wc -l <began)" -eq 1 ]
  [ "$(grep -c '^study: ' said)" -eq 1 ]
}

@test "SIGUSR1 and SIGXCPU reach the ranks, and nohup stays in force" {
  for signal in USR1 XCPU; do
    # shellcheck disable=SC2016 # for the rank's shell
    "$HPCBOOT" run --launcher local --no-prefix --study strong --ranks 1,2 --oversubscribe --repeat 1 -- \
      bash -c '[ "$WORLD_SIZE" = 1 ] || exit 0; trap "echo warned; exit 0" '$signal'; echo started >>began; while :; do sleep 0.05; done' >out 2>said &
    await test -s began
    kill -$signal $!
    wait $!
    grep -q warned out
    [ "$(grep -c '^study: ' said)" -eq 2 ]
    rm began
  done
  (trap '' HUP; exec "$HPCBOOT" run --launcher local --no-prefix --study strong --ranks 1 --repeat 1 -- \
    bash -c 'echo started >>began; sleep 1; echo ended' >out 2>said) &
  await test -s began
  kill -HUP $!
  wait $!
  grep -q ended out
}

@test "a study that is killed does not leave its run behind" {
  "$HPCBOOT" run --launcher local --study strong --ranks 1 -- \
    bash -c 'trap "echo ended >ended; exit 0" TERM; echo started >>began; while :; do sleep 0.05; done' &
  await test -s began
  kill -KILL $!
  await test -s ended
}

@test "each run has a folder of its own for its output, and options may look like others" {
  study --study strong --ranks 1,2 --repeat 2 --output-dir out --env STRANGE=-n4 --env ODD=--study -- bash -c 'echo "$STRANGE"' >/dev/null
  [ "$(cat out/ranks_2_run_2/rank_0001.out)" = -n4 ]
  [ "$(find out -mindepth 1 -maxdepth 1 | wc -l)" -eq 4 ]
}

@test "with SIGCHLD ignored, a run that fails still fails" {
  run -1 python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \
    "$HPCBOOT" run --launcher local --study strong --ranks 1 --repeat 1 -- false
}

@test "a usage error of the runs is one of the study, once" {
  run -2 study --study strong --ranks 1,2 --timeout 0 -- true
  [ "$(grep -c '^study: ' <<<"$output")" -eq 1 ]
}

@test "with --dry-run the plans are printed, and nothing runs" {
  run --separate-stderr -0 study --study strong --ranks 1,2 --repeat 1 --dry-run -- touch ran
  [ "$(grep -c 'touch' <<<"$output")" -ge 2 ]
  [ ! -e ran ]
}

@test "wrong studies are usage errors" {
  run -2 study --study strong -- true
  [[ $output == *"--ranks 1,2,4,8"* ]]
  run -2 study --study weak --ranks 1,2 -- true
  [[ $output == *"{6000*ranks}"* ]]
  run -2 study --ranks 1,2 -- true
  [[ $output == *"need --study"* ]]
  run -2 study --ranks 0 -- true
  run -2 study --ranks x -- true
  run -2 study --study sideways --ranks 1 -- true
  run -2 study --study strong --ranks 1 --output-dir '' -- true
  [[ $output == *"--output-dir is ''"* ]]
  run -2 study --ranks 1 --output-dir '' -- true
  run -2 study --study strong --ranks 1,x -- true
  run -2 study --study strong --ranks 1 --repeat 0 -- true
  run -2 study --repeat 2 -- true
  run -2 study --study strong --ranks 1 --ranks-per-node 2 -- true
}
